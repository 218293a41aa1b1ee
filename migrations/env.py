from alembic import context

from app.models import Base
from app.settings import get_settings
from app.store.db import open_engine

engine = open_engine(context.config.attributes.get("database_url") or get_settings().database_url)
with engine.connect() as connection:
    context.configure(
        connection=connection,
        target_metadata=Base.metadata,
        compare_type=True,
        render_as_batch=connection.dialect.name == "sqlite",
        user_module_prefix="base.",
    )
    with context.begin_transaction():
        context.run_migrations()
engine.dispose()
