import { appendFileSync } from 'node:fs';
import { declareOptions, parseOptions } from 'sluice';

const options = declareOptions({
  'arrivals.file': {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation: 'File that gets a line for each batch: milliseconds since the epoch, and the number of records.',
  },
  'hang.at.key': {
    type: 'STRING',
    default: null,
    importance: 'LOW',
    documentation: 'Key of the record at which the task computes for ever.',
  },
});

class DiscardSinkTask {
  async start({ config }) {
    this.settings = parseOptions(options, config);
  }

  async put(records) {
    const { 'arrivals.file': file, 'hang.at.key': key } = this.settings;
    if (key !== null && records.some((record) => record.key === key)) for (;;);
    if (file !== null && records.length > 0) appendFileSync(file, `${Date.now()} ${records.length}\n`);
  }

  async preCommit(delivered) {
    return [...delivered.values()];
  }

  async stop() {}
}

class DiscardSinkConnector {
  async start(config) {
    this.config = config;
  }

  async taskConfigs(maxTasks) {
    return Array.from({ length: maxTasks }, () => this.config);
  }

  async stop() {}
}

export const discardSink = {
  type: 'sink',
  className: 'com.example.DiscardSinkConnector',
  taskClassName: 'com.example.DiscardSinkTask',
  options,
  createConnector: () => new DiscardSinkConnector(),
  createTask: () => new DiscardSinkTask(),
};
