import { pbkdf2Sync } from 'node:crypto';
import pg from 'pg';

/** What a value of a record may make the task do. */
const deeds = {
  loop: function loopForEver() {
    for (let n = 0; ; n++) if (n < 0) return;
  },
  allocate: function allocateForEver() {
    const kept = [];
    for (;;) kept.push(Array.from({ length: 1000 }, (_, n) => ({ n })));
  },
  wait: () => new Promise(() => undefined),
  // Minutes outside JavaScript, which nothing can interrupt.
  compute: () => pbkdf2Sync('password', 'salt', 400_000_000, 64, 'sha512'),
};

/** Inserts each value into the table, in a transaction for each `put`. */
class StuckSinkTask {
  async start(context) {
    this.config = context.config;
    this.client = new pg.Client({ connectionString: this.config.url, application_name: context.connectorName });
    this.client.on('error', () => undefined);
    await this.client.connect();
  }

  async put(records) {
    if (records.length === 0) return;
    await this.client.query('begin');
    for (const { value } of records) {
      await this.client.query(`insert into "${this.config.table}" values ($1) on conflict do nothing`, [value]);
      await deeds[value]?.();
    }
    await this.client.query('commit');
  }

  async preCommit(delivered) {
    return [...delivered.values()];
  }

  async stop() {
    await this.client?.end();
  }
}

class StuckSinkConnector {
  async start(config) {
    this.config = config;
  }

  async taskConfigs(maxTasks) {
    return Array.from({ length: maxTasks }, () => this.config);
  }

  async stop() {}
}

export const stuckSink = {
  type: 'sink',
  className: 'com.example.StuckSinkConnector',
  taskClassName: 'com.example.StuckSinkTask',
  options: {},
  createConnector: () => new StuckSinkConnector(),
  createTask: () => new StuckSinkTask(),
};
