"""What a submission may see and do: bubblewrap, its init process, the system calls."""
