import { appendFile } from 'node:fs/promises';
import { ConnectError, DataError, declareOptions, javaText, parseOptions } from 'sluice';

const options = declareOptions({
  file: {
    type: 'STRING',
    importance: 'HIGH',
    documentation: 'File that the lines are added to.',
  },
  'line.prefix': {
    type: 'PASSWORD',
    default: '',
    importance: 'LOW',
    documentation: 'What each line begins with.',
  },
});

function lineOf(settings, record) {
  if (record.value === null) throw new DataError('a record without a value is no line');
  return settings['line.prefix'].reveal() + javaText(record.value, record.valueSchema);
}

class LinesSinkTask {
  async start(context) {
    this.context = context;
    this.settings = parseOptions(options, context.config);
    await appendFile(this.settings.file, '').catch((error) => {
      throw new ConnectError(`cannot write to ${this.settings.file}`, { cause: error });
    });
  }

  async put(records) {
    for (const record of records) {
      try {
        await appendFile(this.settings.file, `${lineOf(this.settings, record)}\n`);
      } catch (error) {
        if (!(error instanceof DataError)) throw error;
        await this.context.errantRecords.report(record, error);
      }
    }
  }

  async preCommit(delivered) {
    return [...delivered.values()];
  }

  async stop() {}
}

class LinesSinkConnector {
  async start(config) {
    this.config = config;
  }

  async taskConfigs(maxTasks) {
    return Array.from({ length: maxTasks }, () => this.config);
  }

  async stop() {}
}

export const linesSink = {
  type: 'sink',
  className: 'com.example.LinesSinkConnector',
  taskClassName: 'com.example.LinesSinkTask',
  options,
  createConnector: () => new LinesSinkConnector(),
  createTask: () => new LinesSinkTask(),
  // What `POST /connector-plugins/{plugin}/preview` shows: nothing is written.
  preview: async (config, records) => {
    const settings = parseOptions(options, config);
    return records.map((record) => {
      try {
        return { lines: [lineOf(settings, record)] };
      } catch (error) {
        return { faults: [{ message: error.message }] };
      }
    });
  },
};
