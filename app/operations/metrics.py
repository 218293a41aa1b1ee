"""Numbers for Prometheus: how much is asked, how quickly it is answered, and what is stored, all studies together."""

import os
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from app.operations.observing import Answered
from app.operations.queries import Stored

SHARED = "PROMETHEUS_MULTIPROC_DIR"
"""Where the workers of one server put their numbers together; the library reads it when it is first imported."""
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"})
OTHER = "other"
"""Methods are words of the client: whoever invents them must not make series that stay for ever."""
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10)


class Metrics(NamedTuple):
    registry: CollectorRegistry
    requests: Counter
    seconds: Histogram

    def observe(self, answered: Answered) -> None:
        method = answered.method if answered.method in METHODS else OTHER
        self.requests.labels(method, answered.route, str(answered.status)).inc()
        self.seconds.labels(answered.route).observe(answered.seconds)


def new_metrics() -> Metrics:
    registry = CollectorRegistry()
    requests = Counter("glance_requests", "Requests answered", ["method", "route", "status"], registry=registry)
    seconds = Histogram(
        "glance_request_seconds", "Seconds to the answer", ["route"], registry=registry, buckets=SECONDS
    )
    return Metrics(registry, requests, seconds)


def share_between_workers() -> None:
    """Let the workers that are started from now on add their numbers up."""
    os.environ.setdefault(SHARED, tempfile.mkdtemp(prefix="glance-metrics-"))


def text_of(metrics: Metrics, stored: Stored) -> bytes:
    """All numbers in the format that Prometheus reads."""
    requests = metrics.registry
    if SHARED in os.environ:
        requests = CollectorRegistry()
        MultiProcessCollector(requests)  # type: ignore[no-untyped-call]
    now = CollectorRegistry()
    now.register(_Stored(stored))
    return generate_latest(requests) + generate_latest(now)


class _Stored(Collector):
    """What is in the database, asked for once and not kept: no worker knows it better than another."""

    def __init__(self, stored: Stored) -> None:
        self.stored = stored

    def collect(self) -> Iterator[GaugeMetricFamily]:
        yield GaugeMetricFamily("glance_ratings", "Versions of verdicts stored", self.stored.ratings)
        yield GaugeMetricFamily("glance_raters_present", "Raters seen in the last minutes", self.stored.raters_present)
        yield GaugeMetricFamily("glance_studies_open", "Studies that take verdicts", self.stored.studies_open)
