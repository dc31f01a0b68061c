import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** What `connector.does` and `task.does` may name. */
const deeds = {
  timer: () => {
    setTimeout(() => {
      throw new Error('thrown in a timer');
    }, 10);
  },
  rejection: () => {
    void Promise.reject(new Error('rejected without a handler'));
  },
  emitter: () => {
    const emitter = new EventEmitter();
    setTimeout(() => emitter.emit('error', new Error('emitted without a listener')), 10);
  },
  exit: () => {
    setTimeout(() => process.exit(0), 10);
  },
  block: () => {
    const end = performance.now() + 1300;
    while (performance.now() < end);
  },
  microtask: () => {
    queueMicrotask(() => {
      throw new Error('thrown in a microtask');
    });
  },
};

class UnrulySourceTask {
  async start(context) {
    this.context = context;
  }

  async poll() {
    const { config, logger } = this.context;
    if (!this.polled) deeds[config['task.does']]?.();
    this.polled = true;
    // Of its signal it takes no notice.
    await delay(Number(config['poll.ms'] ?? 50));
    logger.info('the poll has returned');
    if (config['poll.ms'] === undefined) return [];
    const nothing = { partition: null, keySchema: null, key: null, valueSchema: null, timestamp: null, headers: [] };
    const place = { sourcePartition: { p: 1 }, sourceOffset: { n: 1 } };
    return [{ topic: config.topic, ...nothing, value: 'late', ...place }];
  }

  async stop() {}
}

class UnrulySourceConnector {
  async start(config) {
    this.config = config;
    deeds[config['connector.does']]?.();
  }

  async taskConfigs() {
    return [this.config];
  }

  // As plugins in JavaScript may: no promise.
  stop() {}
}

export const unrulySource = {
  type: 'source',
  className: 'com.example.UnrulySourceConnector',
  taskClassName: 'com.example.UnrulySourceTask',
  options: {},
  createConnector: () => new UnrulySourceConnector(),
  createTask: () => new UnrulySourceTask(),
};
