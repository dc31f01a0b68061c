import { texts as frame } from './frame.ts';

const count = (number: number, what: string): string =>
  `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`;

export const texts = {
  ...frame,
  parts: 'Parts of the cluster',
  partTitles: { workers: 'Workers', plugins: 'Plugins', loggers: 'Loggers', topics: 'Internal topics' },
  standalone: 'This worker is a standalone one: it has no group.',
  groupOf: (group: string, generation: number, protocol: string) =>
    `Group ${group}, generation ${String(generation)}, protocol ${protocol}`,

  workers: 'Workers',
  version: 'Version',
  memory: 'Memory',
  memoryHint: 'The memory of the process, and its limit: that of the container, or the memory of the machine.',
  ofLimit: (limit: string) => `of ${limit}`,
  cpu: 'CPU (cores)',
  cpuHint: 'Known from the second reading on.',
  uptime: 'Up',
  itsConsole: 'Its console',
  loopDelay: 'Longest turn',
  loopDelayHint: 'The longest turn of an event loop within the last minute. Above one second, requests and tasks wait.',
  tasks: 'Tasks',
  leader: 'Leader',
  silent: 'No answer',
  inGroup: (state: string) => `In the group: ${state.toLowerCase()}`,
  states: { running: 'Running', draining: 'Draining', drained: 'Drained' } as Readonly<Record<string, string>>,
  manyWorkers: (shown: number) => `Details of the first ${String(shown)} workers are shown.`,

  drain: 'Drain',
  drainHint: 'Moves its work to the other workers, so that it can be stopped.',
  mayStop: 'It can be stopped now.',
  undrain: 'Take work again',
  drainOf: (worker: string) => `Drain ${worker}`,
  undrainOf: (worker: string) => `Let ${worker} take work again`,
  drainTitle: (worker: string) => `Drain ${worker}?`,
  drainWhat: (connectors: number, tasks: number, others: number) =>
    `It hands over ${count(connectors, 'connector')} and ${count(tasks, 'task')} to ${count(others, 'other worker')} in small batches, and receives no others. ` +
    'It stays in the group, so that stopping it moves nothing. The drain ends when the worker restarts, or takes work again here.',
  drainAlone: 'No other worker takes work. Start another one first.',
  undrainTitle: (worker: string) => `Let ${worker} take work again?`,
  undrainWhat: 'At the next rebalance it gets its share of the connectors and tasks.',

  threads: 'Threads',
  threadsOf: (worker: string) => `Threads of ${worker}`,
  purpose: 'Purpose',
  moreTasks: (number: number) => `and ${number.toLocaleString('en')} more`,

  rebalances: 'Rebalances',
  rebalancesOf: (worker: string) => `The last rebalances of ${worker}`,
  noRebalances: 'There was no rebalance since this worker started.',
  rebalancing: 'A rebalance is under way.',
  workersJoined: (workers: readonly string[]) => `${workers.join(', ')} joined`,
  workersLeft: (workers: readonly string[]) => `${workers.join(', ')} left`,
  reasonText: (reason: string) => reason.charAt(0).toUpperCase() + reason.slice(1),
  moved: (number: number) => (number === 0 ? 'nothing moved' : `${number.toLocaleString('en')} moved`),
  because: (reason: string) => `Because ${reason}`,
  took: (ms: number) => (ms < 1000 ? `took ${String(ms)} ms` : `took ${(ms / 1000).toFixed(1)} s`),
  generation: (number: number) => `generation ${String(number)}`,
  led: 'this worker leads',
  nothingMoved: 'nothing moved here',
  gained: (number: number, names: string) => `got ${String(number)}: ${names}`,
  lost: (number: number, names: string) => `released ${String(number)}: ${names}`,
  again: (ms: number) => `again in ${ms < 1000 ? `${String(ms)} ms` : `${(ms / 1000).toFixed(0)} s`}`,

  topic: 'Topic',
  partitions: 'Partitions',
  replicas: 'Replicas',
  policy: 'Cleanup policy',
  size: 'Size',
  noted: 'Problems',
  fine: 'none',
  unknown: 'unknown',
  topicProblems: {
    missing: 'It does not exist. A worker creates it when it starts.',
    denied: 'The worker may not describe the topic: grant the worker Describe on it.',
    notCompact: (topic: string, policy: string) =>
      `cleanup.policy is ${policy}, so that Kafka deletes what the workers need: kafka-configs.sh --alter --entity-type topics --entity-name ${topic} --add-config cleanup.policy=compact`,
    oneReplica: (brokers: number) =>
      `There is one replica on ${String(brokers)} brokers: without its broker, the state of the group is unavailable. Give it 3 replicas with kafka-reassign-partitions.sh.`,
    partitions: (partitions: number) =>
      `It has ${String(partitions)} partitions, and must have 1, as the order of its records counts.`,
    leaderless: (partitions: number) =>
      `${count(partitions, 'partition')} ${partitions === 1 ? 'has' : 'have'} no leader: all brokers with replicas are unavailable.`,
    minInsync: (replicas: number, minimum: number) =>
      `min.insync.replicas is ${String(minimum)} of ${String(replicas)} replicas: workers cannot write while one broker is unavailable.`,
  },

  loggers: 'Loggers',
  logger: 'Logger',
  level: 'Level',
  levelOf: (logger: string) => `Level of ${logger}`,
  changed: 'Changed',
  everyWorker: 'A level that is set here holds on all workers until they end.',
  addLogger: 'Another logger',
  addLoggerHint: 'The name of a class or package, such as org.apache.kafka.connect.runtime',
  set: 'Set',
  levelSet: (logger: string, level: string) => `${logger} logs at ${level} on all workers.`,

  plugins: 'Plugins',
  plugin: 'Plugin',
  kind: 'Kind',
  search: 'Search',
  searchOptions: 'Search the options',
  optionsOf: (plugin: string) => `Options of ${plugin}`,
  option: 'Option',
  importanceOf: (importance: string) => `${importance} importance`,
  default: 'default',
  noDefault: 'no default',
  meaning: 'Meaning',
  required: 'required',
  emptyText: 'empty',
  noPlugin: 'No plugin matches.',
  noOption: 'No option matches.',
  choosePlugin: 'Choose a plugin to see its options.',
  ofPlugins: (number: number, all: number) => `${String(number)} of ${String(all)}`,
} as const;
