"""JupyterHub for a trial class: one password for all, each person a user of the container."""

import os

from jupyterhub.spawner import Spawner

TEACHER = "teacher"

c = get_config()  # noqa: F821 - traitlets puts it there when it reads a configuration file

c.JupyterHub.bind_url = "http://0.0.0.0:8000"
c.JupyterHub.db_url = "sqlite:////srv/jupyterhub/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = "/srv/jupyterhub/cookie_secret"

# For a real class: your university's sign-on, over HTTPS.
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = os.environ["CLASS_PASSWORD"]
c.Authenticator.allowed_users = {TEACHER, *os.environ["LEARNERS"].split()}

# nbgrader's exchange knows people by their users of the system.
c.JupyterHub.spawner_class = "localprocess"
c.Spawner.default_url = "/lab"


def in_the_course(spawner: Spawner) -> None:
    """Open the course for the teacher, with a formgrader that grades with the engine."""
    if spawner.user.name == TEACHER:
        spawner.notebook_dir = "/home/teacher/pytorch-measured"
        spawner.args = ["--ServerApp.jpserver_extensions=autograder.formgrader=True"]


c.Spawner.pre_spawn_hook = in_the_course
