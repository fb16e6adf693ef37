"""What the console shows and keeps beside the transcripts."""

revision = "r0013"
down_revision = "r0012"


def upgrade() -> None:
    """Each part of the console adds its own tables."""
