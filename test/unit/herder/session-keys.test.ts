import assert from 'node:assert/strict';
import { SessionKeys } from '../../../src/herder/session-keys.ts';
import type { SessionKey } from '../../../src/herder/stores/config-state.ts';
import type { ConfigStore } from '../../../src/herder/stores/config-store.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { until } from '../../support/until.ts';

const TTL_MS = 20;

describe('the session key', () => {
  it('is rotated again after a failure to write it', async () => {
    const written: SessionKey[] = [];
    let failures = 0;
    const configs = {
      get sessionKey() {
        return written.at(-1);
      },
      putSessionKey: (key: SessionKey) => {
        if (written.length === 1 && failures < 2) {
          failures += 1;
          return Promise.reject(new Error('the broker does not answer'));
        }
        written.push(key);
        return Promise.resolve();
      },
    } as unknown as ConfigStore;
    const settings = { algorithm: 'HmacSHA256', bits: null, ttlMs: TTL_MS };
    const keys = new SessionKeys(configs, settings, silentLogger);
    await keys.keep();
    await until(() => written.length >= 3, 'two more keys are written');
    keys.stop();
    assert.equal(failures, 2);
    assert.equal(new Set(written.map(({ key }) => key)).size, written.length);
  });
});
