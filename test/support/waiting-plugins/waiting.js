import { RetriableError } from 'sluice';

const never = () => new Promise(() => undefined);

/** What `task.does` may name. */
const deeds = {
  nothing: async () => undefined,
  wait: never,
  retry: async () => {
    throw new RetriableError('the other system has no room');
  },
  tell: async ({ secret }) => {
    throw new RetriableError(`the login with ${secret}\nis refused`);
  },
  loop: async () => {
    for (let n = 0; ; n++) if (n < 0) return;
  },
};

class WaitingTask {
  async start(context) {
    this.context = context;
    context.retryAfterMs?.(30_000);
    if (context.config['task.starts'] === 'never') await never();
  }

  async put(records) {
    if (records.length > 0) await deeds[this.context.config['task.does']](this.context.config);
  }

  async poll() {
    await deeds[this.context.config['task.does']]();
    await new Promise((resolve) => setTimeout(resolve, 100));
    return [];
  }

  async preCommit(delivered) {
    return [...delivered.values()];
  }

  async stop() {}
}

class WaitingConnector {
  async start(config) {
    this.config = config;
  }

  async taskConfigs() {
    return [this.config];
  }

  async stop() {}
}

const common = { options: {}, createConnector: () => new WaitingConnector(), createTask: () => new WaitingTask() };

export const waitingSink = {
  ...common,
  type: 'sink',
  className: 'com.example.WaitingSinkConnector',
  taskClassName: 'com.example.WaitingSinkTask',
};

export const waitingSource = {
  ...common,
  type: 'source',
  className: 'com.example.WaitingSourceConnector',
  taskClassName: 'com.example.WaitingSourceTask',
};
