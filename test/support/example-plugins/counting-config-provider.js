import { appendFile } from 'node:fs/promises';

/** Gives each key with a number that is one more each time; a stand-in for a vault whose secrets expire. */
export const countingConfigProvider = {
  type: 'config_provider',
  className: 'com.example.CountingConfigProvider',
  create({ 'ttl.ms': ttlMs, 'closed.file': closedFile }) {
    let count = 0;
    return {
      async get(_path, keys) {
        count += 1;
        return {
          values: new Map([...keys].map((key) => [key, `${key}-${count}`])),
          ...(ttlMs === undefined ? {} : { ttlMs: Number(ttlMs) }),
        };
      },
      async close() {
        if (closedFile !== undefined) await appendFile(closedFile, 'closed\n');
      },
    };
  },
};
