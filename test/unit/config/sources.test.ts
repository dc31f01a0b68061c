import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environmentProperties } from '../../../src/config/environment.ts';
import { imageProperties, withMetricsReporter } from '../../../src/config/image-environment.ts';
import { decode, parseProperties, readPropertiesFile } from '../../../src/config/properties-file.ts';
import { parseHeaderRules, parseListener } from '../../../src/config/rest-validators.ts';

describe('properties files', () => {
  it('are parsed like in Java', () => {
    const text = '# c\n! c\r\na=1\nb : 2\nc 3 \nd\\ e=\\u0041\\tx\nlist=a,\\\r\n   b\na=4\nempty=\n=x\n\\\n';
    assert.deepEqual(parseProperties(text), { a: '4', b: '2', c: '3 ', 'd e': 'A\tx', list: 'a,b', empty: '' });
  });

  it('are decoded as UTF-8, otherwise as ISO-8859-1', () => {
    assert.equal(decode(Buffer.from('a=é', 'utf8')), 'a=é');
    assert.equal(decode(Buffer.from('a=é', 'latin1')), 'a=é');
    assert.equal(decode(Buffer.from('\ufeffa=1', 'utf8')), 'a=1');
  });

  it('may be JSON', () => {
    assert.deepEqual(parseProperties(' {"a":"1","b":2,"c":true,"d":["x","y"]}'), {
      a: '1',
      b: '2',
      c: 'true',
      d: 'x,y',
    });
    assert.throws(() => parseProperties('{"a":null}'), /a must be a text, a number or a boolean/);
  });

  it('with a malformed escape are rejected with the line number', () => {
    assert.throws(() => parseProperties('a=1\npath=C:\\users'), /Malformed \\uxxxx encoding in line 2/);
    assert.deepEqual(parseProperties('path=C:\\\\users'), { path: 'C:\\users' });
  });

  it('that are missing or malformed are reported with their path', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-properties-'));
    try {
      await assert.rejects(readPropertiesFile(join(folder, 'none')), /Cannot read .*none: ENOENT/);
      await writeFile(join(folder, 'bad.json'), '{"a":');
      await assert.rejects(readPropertiesFile(join(folder, 'bad.json')), /bad\.json: /);
      await writeFile(join(folder, 'good'), 'a=1');
      assert.deepEqual(await readPropertiesFile(join(folder, 'good')), { a: '1' });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

describe('CONNECT_* variables', () => {
  it('become properties as in common images', () => {
    const { properties, warnings } = environmentProperties({
      PATH: '/bin',
      CONNECT_: 'x',
      CONNECT_GROUP_ID: 'g',
      CONNECT_REST_ADVERTISED_HOST_NAME: 'h',
      CONNECT_VALUE_CONVERTER_SCHEMAS_ENABLE: 'false',
      CONNECT_PRODUCER_MY__KEY___X: '1',
      CONNECT_LOG4J_ROOT_LOGLEVEL: 'WARN',
      CONNECT_LOG4J_LOGGERS: 'a=DEBUG',
    });
    assert.deepEqual(properties, {
      'group.id': 'g',
      'rest.advertised.host.name': 'h',
      'value.converter.schemas.enable': 'false',
      'producer.my_key-x': '1',
      'log.level': 'warn',
    });
    assert.deepEqual(warnings, ['CONNECT_LOG4J_LOGGERS is ignored: it configures the Java logger']);
  });
});

describe('variables of other images', () => {
  it("of Debezium's image become properties, with its defaults", () => {
    const properties = imageProperties({
      BOOTSTRAP_SERVERS: 'kafka:9092',
      CONFIG_STORAGE_TOPIC: 'my_configs',
      OFFSET_STORAGE_TOPIC: 'my_offsets',
      STATUS_STORAGE_TOPIC: '',
      SHUTDOWN_TIMEOUT: '9000',
      REST_PORT: '8090',
      LOG_LEVEL: 'WARN',
      ENABLE_JMX_EXPORTER: 'true',
    });
    const json = 'org.apache.kafka.connect.json.JsonConverter';
    assert.deepEqual(properties, {
      'group.id': '1',
      'bootstrap.servers': 'kafka:9092',
      'config.storage.topic': 'my_configs',
      'offset.storage.topic': 'my_offsets',
      'status.storage.topic': 'connect-status',
      'key.converter': json,
      'value.converter': json,
      'task.shutdown.graceful.timeout.ms': '9000',
      listeners: 'http://:8090',
      'log.level': 'warn',
      'metrics.listeners': 'http://0.0.0.0:9404',
    });
  });

  it('are ignored without the topic that the image requires', () => {
    assert.deepEqual(imageProperties({ BOOTSTRAP_SERVERS: 'kafka:9092', GROUP_ID: 'g', LOG_LEVEL: 'DEBUG' }), {});
  });

  it("of Strimzi's operator enable the metrics on port 9404", () => {
    assert.deepEqual(imageProperties({ KAFKA_CONNECT_JMX_EXPORTER_ENABLED: 'false' }), {});
    const listener = { 'metrics.listeners': 'http://0.0.0.0:9404' };
    assert.deepEqual(imageProperties({ KAFKA_CONNECT_JMX_EXPORTER_ENABLED: 'true' }), listener);
  });
});

describe("properties of Strimzi's Metrics Reporter", () => {
  const reporter =
    'org.apache.kafka.common.metrics.JmxReporter,io.strimzi.kafka.metrics.prometheus.ClientMetricsReporter';

  it('enable metrics on its listener, with its names', () => {
    const given = { 'metric.reporters': reporter, 'prometheus.metrics.reporter.listener': 'http://:9404' };
    assert.deepEqual(withMetricsReporter(given), {
      ...given,
      'metrics.listeners': 'http://:9404',
      'metrics.naming': 'reporter',
    });
    const named = { ...given, 'metrics.naming': 'strimzi' };
    assert.equal(withMetricsReporter(named)['metrics.naming'], 'strimzi');
    const off = { ...given, 'prometheus.metrics.reporter.listener.enable': 'false' };
    assert.equal(withMetricsReporter(off)['metrics.listeners'], undefined);
  });

  it('have no effect without the reporter', () => {
    const given = { 'metric.reporters': 'org.apache.kafka.common.metrics.JmxReporter' };
    assert.equal(withMetricsReporter(given), given);
  });
});

describe('REST options', () => {
  it('parse listeners with a name, an address or no host', () => {
    assert.deepEqual(parseListener('http://:8083'), { protocol: 'http', host: '', port: 8083 });
    assert.deepEqual(parseListener('HTTPS://[::1]:8443'), { protocol: 'https', host: '::1', port: 8443 });
    for (const url of ['http://a', 'http://a:70000', 'http://a:b', 'ftp://a:1'])
      assert.equal(parseListener(url), undefined);
  });

  it('parse header rules, including quoted ones', () => {
    assert.deepEqual(parseHeaderRules('set X-A: 1, "add Cache-Control: no-cache, no-store",setDate Date:x'), [
      { action: 'set', name: 'X-A', value: '1' },
      { action: 'add', name: 'Cache-Control', value: 'no-cache, no-store' },
      { action: 'setDate', name: 'Date', value: 'x' },
    ]);
    assert.deepEqual(parseHeaderRules(' '), []);
  });
});
