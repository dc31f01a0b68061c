import type { Importance, OptionDeclaration, OptionDeclarations, OptionType } from './option.ts';

/**
 * The settings of Kafka's Java clients (release 4.3), one per line: name, type, importance, default. `!` means required, `-` no
 * default, `''` empty. Connectors may set them with `producer.override.`, `consumer.override.`, `admin.override.`.
 */
const SHARED = `
client.dns.lookup STRING MEDIUM use_all_dns_ips
send.buffer.bytes INT MEDIUM 131072
reconnect.backoff.ms LONG LOW 50
reconnect.backoff.max.ms LONG LOW 1000
retry.backoff.ms LONG LOW 100
retry.backoff.max.ms LONG LOW 1000
request.timeout.ms INT MEDIUM 30000
metadata.max.age.ms LONG LOW 300000
metrics.sample.window.ms LONG LOW 30000
metrics.num.samples INT LOW 2
metrics.recording.level STRING LOW INFO
metric.reporters LIST LOW org.apache.kafka.common.metrics.JmxReporter
socket.connection.setup.timeout.ms LONG MEDIUM 10000
socket.connection.setup.timeout.max.ms LONG MEDIUM 30000
security.protocol STRING MEDIUM PLAINTEXT
security.providers STRING LOW -
ssl.protocol STRING MEDIUM TLSv1.3
ssl.provider STRING MEDIUM -
ssl.cipher.suites LIST LOW ''
ssl.enabled.protocols LIST MEDIUM TLSv1.2,TLSv1.3
ssl.keystore.type STRING MEDIUM JKS
ssl.keystore.location STRING HIGH -
ssl.keystore.password PASSWORD HIGH -
ssl.key.password PASSWORD HIGH -
ssl.keystore.key PASSWORD HIGH -
ssl.keystore.certificate.chain PASSWORD HIGH -
ssl.truststore.certificates PASSWORD HIGH -
ssl.truststore.type STRING MEDIUM JKS
ssl.truststore.location STRING HIGH -
ssl.truststore.password PASSWORD HIGH -
ssl.keymanager.algorithm STRING LOW SunX509
ssl.trustmanager.algorithm STRING LOW PKIX
ssl.endpoint.identification.algorithm STRING LOW https
ssl.secure.random.implementation STRING LOW -
ssl.engine.factory.class CLASS LOW -
sasl.kerberos.service.name STRING MEDIUM -
sasl.kerberos.kinit.cmd STRING LOW /usr/bin/kinit
sasl.kerberos.ticket.renew.window.factor DOUBLE LOW 0.8
sasl.kerberos.ticket.renew.jitter DOUBLE LOW 0.05
sasl.kerberos.min.time.before.relogin LONG LOW 60000
sasl.login.refresh.window.factor DOUBLE LOW 0.8
sasl.login.refresh.window.jitter DOUBLE LOW 0.05
sasl.login.refresh.min.period.seconds SHORT LOW 60
sasl.login.refresh.buffer.seconds SHORT LOW 300
sasl.mechanism STRING MEDIUM GSSAPI
sasl.jaas.config PASSWORD MEDIUM -
sasl.client.callback.handler.class CLASS MEDIUM -
sasl.login.callback.handler.class CLASS MEDIUM -
sasl.login.class CLASS MEDIUM -
sasl.login.connect.timeout.ms INT LOW -
sasl.login.read.timeout.ms INT LOW -
sasl.login.retry.backoff.max.ms LONG LOW 10000
sasl.login.retry.backoff.ms LONG LOW 100
sasl.oauthbearer.jwt.retriever.class CLASS MEDIUM org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever
sasl.oauthbearer.jwt.validator.class CLASS MEDIUM org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator
sasl.oauthbearer.scope STRING MEDIUM -
sasl.oauthbearer.client.credentials.client.id STRING MEDIUM -
sasl.oauthbearer.client.credentials.client.secret PASSWORD MEDIUM -
sasl.oauthbearer.assertion.algorithm STRING MEDIUM RS256
sasl.oauthbearer.assertion.claim.aud STRING MEDIUM -
sasl.oauthbearer.assertion.claim.exp.seconds INT LOW 300
sasl.oauthbearer.assertion.claim.iss STRING MEDIUM -
sasl.oauthbearer.assertion.claim.jti.include BOOLEAN MEDIUM false
sasl.oauthbearer.assertion.claim.nbf.seconds INT LOW 60
sasl.oauthbearer.assertion.claim.sub STRING MEDIUM -
sasl.oauthbearer.assertion.file STRING MEDIUM -
sasl.oauthbearer.assertion.private.key.file STRING MEDIUM -
sasl.oauthbearer.assertion.private.key.passphrase PASSWORD MEDIUM -
sasl.oauthbearer.assertion.template.file STRING MEDIUM -
sasl.oauthbearer.scope.claim.name STRING LOW scope
sasl.oauthbearer.sub.claim.name STRING LOW sub
sasl.oauthbearer.token.endpoint.url STRING MEDIUM -
sasl.oauthbearer.jwks.endpoint.url STRING MEDIUM -
sasl.oauthbearer.jwks.endpoint.refresh.ms LONG LOW 3600000
sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms LONG LOW 10000
sasl.oauthbearer.jwks.endpoint.retry.backoff.ms LONG LOW 100
sasl.oauthbearer.clock.skew.seconds INT LOW 30
sasl.oauthbearer.expected.audience LIST HIGH ''
sasl.oauthbearer.expected.issuer STRING HIGH -
sasl.oauthbearer.header.urlencode BOOLEAN LOW false
metadata.recovery.strategy STRING LOW rebootstrap
metadata.recovery.rebootstrap.trigger.ms LONG LOW 300000
config.providers LIST LOW ''
`;

const PRODUCER = `
bootstrap.servers LIST HIGH !
buffer.memory LONG HIGH 33554432
retries INT HIGH 2147483647
acks STRING LOW all
compression.type STRING HIGH none
compression.gzip.level INT MEDIUM -1
compression.lz4.level INT MEDIUM 9
compression.zstd.level INT MEDIUM 3
batch.size INT MEDIUM 16384
partitioner.adaptive.partitioning.enable BOOLEAN LOW true
partitioner.availability.timeout.ms LONG LOW 0
partitioner.ignore.keys BOOLEAN MEDIUM false
linger.ms LONG MEDIUM 5
delivery.timeout.ms INT MEDIUM 120000
client.id STRING MEDIUM ''
receive.buffer.bytes INT MEDIUM 32768
max.request.size INT MEDIUM 1048576
enable.metrics.push BOOLEAN LOW true
max.block.ms LONG MEDIUM 60000
metadata.max.idle.ms LONG LOW 300000
max.in.flight.requests.per.connection INT LOW 5
key.serializer CLASS HIGH !
value.serializer CLASS HIGH !
connections.max.idle.ms LONG MEDIUM 540000
partitioner.class CLASS MEDIUM -
interceptor.classes LIST LOW ''
enable.idempotence BOOLEAN LOW true
transaction.timeout.ms INT LOW 60000
transactional.id STRING LOW -
transaction.two.phase.commit.enable BOOLEAN LOW false
`;

const CONSUMER = `
bootstrap.servers LIST HIGH !
group.id STRING HIGH -
group.instance.id STRING MEDIUM -
session.timeout.ms INT HIGH 45000
heartbeat.interval.ms INT HIGH 3000
partition.assignment.strategy LIST MEDIUM class org.apache.kafka.clients.consumer.RangeAssignor,class org.apache.kafka.clients.consumer.CooperativeStickyAssignor
enable.auto.commit BOOLEAN MEDIUM true
auto.commit.interval.ms INT LOW 5000
client.id STRING LOW ''
client.rack STRING LOW ''
max.partition.fetch.bytes INT HIGH 1048576
receive.buffer.bytes INT MEDIUM 65536
fetch.min.bytes INT HIGH 1
fetch.max.bytes INT MEDIUM 52428800
fetch.max.wait.ms INT LOW 500
enable.metrics.push BOOLEAN LOW true
auto.offset.reset STRING MEDIUM latest
check.crcs BOOLEAN LOW true
key.deserializer CLASS HIGH !
value.deserializer CLASS HIGH !
default.api.timeout.ms INT MEDIUM 60000
connections.max.idle.ms LONG MEDIUM 540000
interceptor.classes LIST LOW ''
max.poll.records INT MEDIUM 500
max.poll.interval.ms INT MEDIUM 300000
exclude.internal.topics BOOLEAN MEDIUM true
isolation.level STRING MEDIUM read_uncommitted
allow.auto.create.topics BOOLEAN MEDIUM true
group.protocol STRING HIGH classic
group.remote.assignor STRING MEDIUM -
share.acknowledgement.mode STRING MEDIUM implicit
share.acquire.mode STRING MEDIUM BATCH_OPTIMIZED
`;

const ADMIN = `
bootstrap.servers LIST HIGH ''
bootstrap.controllers LIST HIGH ''
client.id STRING MEDIUM ''
receive.buffer.bytes INT MEDIUM 65536
enable.metrics.push BOOLEAN LOW false
connections.max.idle.ms LONG MEDIUM 300000
retries INT LOW 2147483647
default.api.timeout.ms INT MEDIUM 60000
`;

export type ClientKind = 'producer' | 'consumer' | 'admin';

const TEXTS: Readonly<Record<ClientKind, string>> = { producer: PRODUCER, consumer: CONSUMER, admin: ADMIN };
const parsed = new Map<ClientKind, OptionDeclarations>();

/** The settings of a Java client of this kind, parsed on first use. */
export function clientDefinitions(kind: ClientKind): OptionDeclarations {
  let definitions = parsed.get(kind);
  if (definitions === undefined) {
    const lines = `${SHARED}${TEXTS[kind]}`.split('\n').filter((line) => line !== '');
    definitions = Object.fromEntries(lines.map((line) => parseLine(line, kind)));
    parsed.set(kind, definitions);
  }
  return definitions;
}

function parseLine(line: string, kind: ClientKind): readonly [string, OptionDeclaration] {
  const [, name = '', type = 'STRING', importance = 'LOW', given = '!'] = /^(\S+) (\S+) (\S+) (.*)$/.exec(line) ?? [];
  const declaration = {
    type: type as OptionType,
    importance: importance as Importance,
    documentation: `Setting of the Kafka ${kind}, see https://kafka.apache.org/documentation/#${kind}configs_${name}`,
  };
  if (given === '!') return [name, declaration];
  return [name, { ...declaration, default: given === '-' ? null : given === "''" ? '' : given }];
}

const OVERRIDE = /^(producer|consumer|admin)\.override\.(.*)$/s;

/** The type of an option such as `consumer.override.sasl.jaas.config`; `undefined` if clients do not have it. */
export function clientOptionType(key: string): OptionType | undefined {
  const [, kind, setting = ''] = OVERRIDE.exec(key) ?? [];
  if (kind !== 'producer' && kind !== 'consumer' && kind !== 'admin') return undefined;
  const known = clientDefinitions(kind);
  return Object.hasOwn(known, setting) ? known[setting]?.type : undefined;
}
