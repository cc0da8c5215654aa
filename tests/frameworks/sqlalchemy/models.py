"""The tables of a shop."""

# snippet: model
from sqlalchemy import BigInteger, Column, ForeignKey, Text, text
from sqlalchemy.orm import declarative_base, relationship

Base = declarative_base()


def snowflake():
    """A key that the DEFAULT makes, unless the object has one. SQLAlchemy reads it with RETURNING."""
    return Column(BigInteger, primary_key=True, autoincrement=False, server_default=text("next_snowflake()"))


class Author(Base):
    __tablename__ = "author"
    id = snowflake()
    name = Column(Text, nullable=False)
    books = relationship("Book", back_populates="author")
# snippet: end


class Book(Base):
    __tablename__ = "book"
    id = snowflake()
    author_id = Column(ForeignKey("author.id"), nullable=False)
    title = Column(Text, nullable=False)
    author = relationship("Author", back_populates="books")
