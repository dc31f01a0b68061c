import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { portFindings } from '../../../../src/cli/doctor/machine-section.ts';
import { loadWorkerConfig } from '../../../../src/config/worker-config.ts';
import { listenOnNewPort } from '../../../support/new-port.ts';

const CONVERTER = 'org.apache.kafka.connect.storage.StringConverter';

describe('the addresses that the doctor checks', () => {
  it('are reported under the properties that set them', async () => {
    const taken = createServer((socket) => socket.destroy());
    const url = `http://127.0.0.1:${String(await listenOnNewPort(taken))}`;
    try {
      const config = loadWorkerConfig({
        mode: 'standalone',
        properties: {
          'bootstrap.servers': 'kafka:9092',
          'offset.storage.file.filename': 'offsets',
          'key.converter': CONVERTER,
          'value.converter': CONVERTER,
          listeners: 'http://127.0.0.1:0',
          'admin.listeners': url,
          'metrics.listeners': url,
        },
      });
      const findings = await portFindings(config, []);
      assert.deepEqual(
        findings.map(({ level, about }) => [level, about]),
        [
          ['ok', 'listeners http://127.0.0.1:0'],
          ['fail', `admin.listeners ${url}`],
          ['fail', `metrics.listeners ${url}`],
        ],
      );
      assert.match(findings[1]?.remedy ?? '', /or set admin\.listeners to another port$/);
    } finally {
      taken.close();
      await once(taken, 'close');
    }
  });
});
