import assert from 'node:assert/strict';
import { pino } from 'pino';
import { loadWorkerConfig } from '../../../src/config/worker-config.ts';
import { SecretMask } from '../../../src/observe/secret-mask.ts';
import { connectorValidation, openPlugins } from '../../../src/worker/plugins.ts';

const STRING_CONVERTER = 'org.apache.kafka.connect.storage.StringConverter';
const WORKER = {
  'bootstrap.servers': '127.0.0.1:9092',
  'key.converter': STRING_CONVERTER,
  'value.converter': STRING_CONVERTER,
  'offset.storage.file.filename': '/dev/null',
};
const SINK = { name: 'slip', 'connector.class': 'FileStreamSink', topics: 't', file: 'f' };

describe('a connector’s key that is no option but nearly is one', () => {
  it('is accepted as by Java, and logged once with the option that was meant', async () => {
    const warnings: string[] = [];
    const write = (line: string) => void warnings.push((JSON.parse(line) as { msg: string }).msg);
    const logger = pino({ level: 'warn' }, { write });
    const config = loadWorkerConfig({ mode: 'standalone', properties: WORKER });
    const secrets = new SecretMask();
    const opened = await openPlugins(config, { plugins: [], secrets, logger });
    const standalone = { workerGroupId: undefined, exactlyOnceSources: false };
    const validation = connectorValidation(config, opened, secrets, standalone, logger);
    const given = {
      ...SINK,
      'tasks.maxx': '1',
      flie: 'x',
      mine: '1',
      'value.converter.schemas.enable': 'false',
      'consumer.override.max.poll.record': '1',
    };
    try {
      assert.deepEqual(await validation.requireValid(given), given);
      const asked = await validation.validateFor('FileStreamSink', given);
      assert.equal(asked.error_count, 0);
    } finally {
      await opened.resolver.close();
    }
    assert.deepEqual(warnings.sort(), [
      'Connector slip: unknown option flie; did you mean file?',
      'Connector slip: unknown option tasks.maxx; did you mean tasks.max?',
    ]);
  });
});
