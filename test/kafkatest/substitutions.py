"""What differs from the machines that Kafka's tests are written for."""

import os

from kafkatest.directory_layout.kafka_path import KafkaSystemTestPathResolver
from kafkatest.services.connect import ConnectServiceBase
from kafkatest.services.kafka import KafkaService, consumer_group, quorum
from kafkatest.services.security.security_config import SecurityConfig, SslStores

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "kafka-script")
MECHANISMS = {"client_sasl_mechanism": "PLAIN", "interbroker_sasl_mechanism": "PLAIN"}


def use_passwords(service):
    with_kerberos = service.__init__
    service.__init__ = lambda self, *args, **kwargs: with_kerberos(self, *args, **{**MECHANISMS, **kwargs})


def substitute():
    # Scripts of a Kafka installation: those of Connect start Sluice, the others the classes of Kafka's jars.
    KafkaSystemTestPathResolver.script = lambda self, name, *_, **__: "%s %s" % (SCRIPT, name)
    # Broker and controller share a process, which starts sooner than two. Kafka 4 has no ZooKeeper.
    quorum.for_test = lambda _: quorum.combined_kraft
    # There is no Kerberos server, and Sluice does not support Kerberos: SASL uses passwords.
    KafkaService.start_minikdc_if_necessary = lambda self, add_principals="": None
    for service in (KafkaService, SecurityConfig):
        use_passwords(service)

    # Kafka Connect 4.3.1 refuses `session.timeout.ms` for consumers of the new group protocol, and Sluice does too.
    set_configs = ConnectServiceBase.set_configs

    def set_configs_of_protocol(self, template, *args, **kwargs):
        protocol = (self.context.injected_args or {}).get("group_protocol")
        if consumer_group.is_consumer_group_protocol_enabled(protocol):
            set_configs(self, lambda node: template(node).replace("\nconsumer.session.timeout.ms=", "\n# "), *args, **kwargs)
        else:
            set_configs(self, template, *args, **kwargs)

    ConnectServiceBase.set_configs = set_configs_of_protocol

    # Certificates are made when a node needs them, which most tests do not.
    generate_ca, generate_truststore, setup_ssl = SslStores.generate_ca, SslStores.generate_truststore, SecurityConfig.setup_ssl

    def setup_ssl_with_stores(self, node):
        stores = SecurityConfig.ssl_stores
        if not os.path.exists(stores.truststore_path):
            generate_ca(stores)
            generate_truststore(stores)
        setup_ssl(self, node)

    SslStores.generate_ca = SslStores.generate_truststore = lambda self: None
    SecurityConfig.setup_ssl = setup_ssl_with_stores


# Options of all connectors that Connect has since Kafka 4.1, and older versions of the tests do not expect.
PLUGIN_VERSIONS = {"connector.plugin.version"} | {
    converter + ".converter.plugin.version" for converter in ("key", "value", "header")
}


def adapt(test_class):
    for expected in (getattr(test_class, name, None) for name in ("FILE_SOURCE_CONFIGS", "FILE_SINK_CONFIGS")):
        if expected is not None:
            expected |= PLUGIN_VERSIONS
