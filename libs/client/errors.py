"""What a call can raise.

ClientError
├── ApiError      the service answered with a problem document
├── Unreachable   nobody answered, after retries
└── WaitTimeout   a job did not end in the time given; it goes on
"""

from libs.contracts.api.problem import Problem


class ClientError(Exception):
    """Base of all errors of the client."""


class ApiError(ClientError):
    """The service refused: `problem` says what, why, and who must act."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.code}: {problem.detail or problem.title}")
        self.problem = problem


class Unreachable(ClientError):
    """No answer from the service's address."""


class WaitTimeout(ClientError):
    """The job had not ended when the time was up."""
