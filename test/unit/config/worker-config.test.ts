import assert from 'node:assert/strict';
import { loadWorkerConfig, type DistributedWorkerConfig, type Properties } from '../../../src/config/worker-config.ts';

const JSON_CONVERTER = 'org.apache.kafka.connect.json.JsonConverter';
const minimal: Properties = {
  'bootstrap.servers': 'a:9092,b:9092',
  'group.id': 'g',
  'key.converter': JSON_CONVERTER,
  'value.converter': JSON_CONVERTER,
  'config.storage.topic': 'c',
  'offset.storage.topic': 'o',
  'status.storage.topic': 's',
};

function distributed(more: Properties = {}): DistributedWorkerConfig {
  const config = loadWorkerConfig({ mode: 'distributed', properties: { ...minimal, ...more } });
  assert.ok(config.mode === 'distributed');
  return config;
}

describe('the worker configuration', () => {
  it('has the defaults of Connect', () => {
    const config = distributed();
    assert.deepEqual(config.warnings, []);
    assert.deepEqual(config.common['bootstrap.servers'], ['a:9092', 'b:9092']);
    assert.equal(config.common['offset.flush.interval.ms'], 60000);
    assert.deepEqual(config.rest.listeners, ['http://:8083']);
    assert.equal(config.distributed['session.timeout.ms'], 10000);
    const creation = { partitions: 1, replicationFactor: 3, settings: {}, mayCreate: true };
    assert.deepEqual(config.topics.config, { name: 'c', ...creation });
    assert.equal(config.topics.offset.partitions, 25);
    assert.equal(config.topics.status.partitions, 5);
    assert.deepEqual(config.topics.own, { name: 'c-sluice', ...creation });
    assert.equal(config.own['json.converter.strict'], false);
  });

  it('rejects task.threads=0, because tasks always run in threads', () => {
    assert.equal(distributed({ 'task.threads': '1' }).own['task.threads'], 1);
    assert.throws(
      () => distributed({ 'task.threads': '0' }),
      /task\.threads: Tasks always run in threads; remove this/,
    );
  });

  it('reports all missing and invalid keys together', () => {
    const properties = { 'key.converter': 'K', 'offset.flush.interval.ms': 'soon', listeners: 'ftp://x:1' };
    assert.throws(
      () => loadWorkerConfig({ mode: 'distributed', properties }),
      (error: Error) => {
        const missing = ['bootstrap.servers', 'value.converter', 'group.id', 'offset.storage.topic'];
        for (const key of [...missing, 'config.storage.topic', 'status.storage.topic']) {
          assert.match(
            error.message,
            new RegExp(`Missing required configuration "${key}" which has no default value.`),
          );
        }
        assert.match(
          error.message,
          /Invalid value soon for configuration offset.flush.interval.ms: Not a number of type LONG/,
        );
        assert.match(error.message, /Listener URL ftp:\/\/x:1 must begin with http:\/\/ or https:\/\//);
        assert.equal(error.message.split('\n').length, 8);
        return true;
      },
    );
  });

  it('requires only the offset file in standalone mode', () => {
    const { 'bootstrap.servers': servers = '', 'key.converter': key = '', 'value.converter': value = '' } = minimal;
    const properties = { 'bootstrap.servers': servers, 'key.converter': key, 'value.converter': value };
    assert.throws(() => loadWorkerConfig({ mode: 'standalone', properties }), /"offset.storage.file.filename"/);
    const config = loadWorkerConfig({
      mode: 'standalone',
      properties: { ...properties, 'offset.storage.file.filename': '/tmp/o', 'group.id': 'g' },
    });
    assert.ok(config.mode === 'standalone');
    assert.equal(config.standalone['offset.storage.file.filename'], '/tmp/o');
    assert.deepEqual(config.warnings, ['group.id is ignored: it means nothing to a standalone worker']);
  });

  it('passes only prefixed keys to producers and consumers, and also unprefixed ones to admin clients', () => {
    const { clients } = distributed({
      'security.protocol': 'SASL_SSL',
      'sasl.jaas.config': 'secret;',
      'ssl.truststore.location': '/t.pem',
      'ssl.client.auth': 'required',
      'producer.acks': '1',
      'consumer.max.poll.records': '10',
      'admin.retries': '3',
    });
    const bootstrap = { 'bootstrap.servers': 'a:9092,b:9092' };
    const security = {
      'security.protocol': 'SASL_SSL',
      'sasl.jaas.config': 'secret;',
      'ssl.truststore.location': '/t.pem',
    };
    assert.deepEqual(clients.worker, { ...bootstrap, ...security });
    assert.deepEqual(clients.producer, { ...bootstrap, acks: '1' });
    assert.deepEqual(clients.consumer, { ...bootstrap, 'max.poll.records': '10' });
    assert.deepEqual(clients.admin, { ...bootstrap, ...security, retries: '3' });
  });

  it('keeps the converters with their sub-keys, and the default header converter', () => {
    assert.deepEqual(distributed({ 'value.converter.schemas.enable': 'false' }).converterConfig, {
      'key.converter': JSON_CONVERTER,
      'value.converter': JSON_CONVERTER,
      'value.converter.schemas.enable': 'false',
      'header.converter': 'org.apache.kafka.connect.storage.SimpleHeaderConverter',
    });
  });

  it('accepts settings for internal topics, except a cleanup policy and config partitions', () => {
    const config = distributed({
      'offset.storage.segment.bytes': '1000',
      'status.storage.cleanup.policy': 'delete',
      'config.storage.partitions': '9',
      'offset.storage.replication.factor': '-1',
    });
    assert.deepEqual(config.topics.offset.settings, { 'segment.bytes': '1000' });
    assert.equal(config.topics.offset.replicationFactor, -1);
    assert.deepEqual(config.warnings, [
      'config.storage.partitions is ignored: the config topic always has one partition',
      'status.storage.cleanup.policy is ignored: internal topics are always compacted',
    ]);
  });

  it('ignores Java-only and unknown keys with one warning each', () => {
    const { warnings } = distributed({
      'plugin.discovery': 'service_load',
      'internal.key.converter.schemas.enable': 'false',
      'sasl.kerberos.kinit.cmd': 'x',
      'no.such.key': '1',
      'producer.interceptor.classes': 'x',
    });
    assert.deepEqual(warnings, [
      'plugin.discovery is ignored: it only means something to a Java worker',
      'internal.key.converter.schemas.enable is ignored: it only means something to a Java worker',
      'sasl.kerberos.kinit.cmd is ignored: it only means something to a Java worker',
      'no.such.key is ignored: no such option',
    ]);
  });

  it("logs no warning for Strimzi's Metrics Reporter, whose metrics the worker provides", () => {
    const reporter = { 'metric.reporters': 'io.strimzi.kafka.metrics.prometheus.ClientMetricsReporter' };
    const listener = {
      'prometheus.metrics.reporter.listener': 'http://:9404',
      'prometheus.metrics.reporter.listener.enable': 'true',
    };
    assert.deepEqual(distributed({ ...reporter, ...listener }).warnings, []);
    const other = { 'metric.reporters': 'org.example.Reporter', 'prometheus.metrics.reporter.allowlist': '.*' };
    assert.deepEqual(distributed(other).warnings, [
      'metric.reporters is ignored: it only means something to a Java worker',
      'prometheus.metrics.reporter.allowlist is ignored: it only means something to a Java worker',
    ]);
  });

  it('creates no internal topic with internal.topics.automatic.creation.enable=false', () => {
    const { topics } = distributed({ 'internal.topics.automatic.creation.enable': 'false' });
    assert.deepEqual(
      Object.values(topics).map(({ mayCreate }) => mayCreate),
      [false, false, false, false],
    );
  });

  it('logs no warning for the token endpoint of OAUTHBEARER, which is supported (C4)', () => {
    const { warnings } = distributed({
      'sasl.oauthbearer.token.endpoint.url': 'https://token.example/',
      'sasl.oauthbearer.sub.claim.name': 'x',
    });
    assert.deepEqual(warnings, [
      'sasl.oauthbearer.sub.claim.name is ignored: it only means something to a Java worker',
    ]);
  });

  it('converts the obsolete rest.port and rest.host.name to listeners', () => {
    const config = distributed({ 'rest.port': '8088' });
    assert.deepEqual(config.rest.listeners, ['http://:8088']);
    assert.equal(config.warnings.length, 1);
    assert.deepEqual(distributed({ 'rest.port': '8088', listeners: 'http://h:1' }).rest.listeners, ['http://h:1']);
  });
});
