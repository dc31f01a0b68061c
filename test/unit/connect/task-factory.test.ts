import assert from 'node:assert/strict';
import { TaskFactory } from '../../../src/connect/hosting/task-factory.ts';
import { PluginRegistry } from '../../../src/connect/plugins/plugin-registry.ts';
import type { SourceOffsets } from '../../../src/connect/source/offset-storage.ts';
import type { TaskAssignment } from '../../../src/connect/task-assignment.ts';
import type { TaskClients } from '../../../src/connect/tasks/task-clients.ts';
import { TaskMeasures } from '../../../src/connect/tasks/task-measures.ts';
import { stringConverterPlugins } from '../../../src/converters/string-converter.ts';
import { ConfigError } from '../../../src/errors.ts';
import type { Plugin } from '../../../src/index.ts';
import { silentLogger } from '../../../src/observe/logger.ts';
import { DEFAULT_WINDOW } from '../../../src/observe/metrics/sampled-stats.ts';
import { SecretMask } from '../../../src/observe/secret-mask.ts';
import { workPlaces, WORK_PLACES_BYTES } from '../../../src/observe/work-place.ts';
import { ReplayTasks } from '../../../src/operate/dead-letters/replay-tasks.ts';

const SINK = {
  type: 'sink',
  className: 'org.example.Sink',
  version: '1',
  createTask: () => ({}),
} as unknown as Plugin;
const STRING = 'org.apache.kafka.connect.storage.StringConverter';
const ASSIGNMENT: TaskAssignment = {
  id: { connector: 'c', task: 0 },
  type: 'sink',
  tasks: 1,
  connectorConfig: {
    name: 'c',
    'connector.class': 'org.example.Sink',
    topics: 't',
    'errors.tolerance': 'all',
    'errors.deadletterqueue.topic.name': 'dead',
  },
  taskConfig: {},
  targetState: 'STARTED',
};
const REPLAY = { topic: 'dead', group: 'g', partitions: [], selection: {} };

describe('a sink task whose consumer cannot be opened', () => {
  for (const [what, assignment] of [
    ['a task', ASSIGNMENT],
    ['a replay', { ...ASSIGNMENT, replay: REPLAY }],
  ] as const) {
    it(`keeps neither its dead-letter producer nor its place, if it is ${what}`, async () => {
      const calls: string[] = [];
      const call = (name: string) => () => Promise.resolve(void calls.push(name));
      const clients = {
        admin: () => ({ describeTopics: () => Promise.resolve(new Map([['dead', {}]])), close: call('close admin') }),
        deadLetterProducer: () => ({ connect: call('connect producer'), close: call('close producer') }),
        sinkConsumer: () => Promise.reject(new ConfigError('consumer.override.x is not allowed')),
      } as unknown as TaskClients;
      const converterConfig = { 'key.converter': STRING, 'value.converter': STRING, 'header.converter': STRING };
      const factory = new TaskFactory({
        mayWork: () => true,
        plugins: new PluginRegistry([...stringConverterPlugins, SINK]),
        clients,
        offsets: {} as unknown as SourceOffsets,
        defaults: {
          offsetFlushIntervalMs: 100,
          offsetFlushTimeoutMs: 100,
          topicCreationEnabled: false,
          converterConfig,
        },
        secrets: new SecretMask(),
        logger: silentLogger,
      });
      const buffer = new SharedArrayBuffer(WORK_PLACES_BYTES);
      workPlaces.share(buffer);
      const tasks = new ReplayTasks(factory, clients);
      const building = tasks.build(assignment, new TaskMeasures(DEFAULT_WINDOW), () => undefined);
      await assert.rejects(building, /consumer\.override\.x is not allowed/);
      assert.deepEqual(calls, ['connect producer', 'close admin', 'close producer']);
      const next = workPlaces.open('next-0');
      next.enter('start');
      assert.equal(new Int32Array(buffer)[0], 0, 'the first slot is free again');
      next.close();
    });
  }
});
