"""What a submission may see and do: bubblewrap, its init process, the system calls.

`bubblewrap.py` makes the command in which `worker/fork_server_client.py` starts the fork server;
another sandbox takes its place there.
"""
