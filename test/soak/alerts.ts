import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createKafkaClient } from '../../src/kafka/client/client.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { freePort } from '../../src/dev/ports.ts';
import { ServiceProcess } from '../../src/dev/service-process.ts';
import { sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { expressionsOf } from '../support/promql-names.ts';
import { broker, database, uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';
import type { Repeat, RepeatOptions } from './repeat.ts';

const PUBLIC = fileURLToPath(new URL('../../../shared/golden/dashboards/', import.meta.url));
const OWN = fileURLToPath(new URL('../../docs/monitoring/', import.meta.url));
const PLUGINS = ['unruly-plugins', 'waiting-plugins']
  .map((name) => fileURLToPath(new URL(`../support/${name}`, import.meta.url)))
  .join(',');

/** Labels that the scrape configuration of a cluster adds to the metrics of a worker. Dashboards select by them. */
const LABELS = {
  namespace: 'n',
  strimzi_io_kind: 'KafkaConnect',
  strimzi_io_cluster: 'c',
  kubernetes_pod_name: 'p',
  pod: 'c-connect-0',
  container: 'c-connect',
  env: 'e',
  kafka_connect_cluster_id: 'k',
};

/**
 * Alerts that fire in these cases: a connector, a task or records failed; a thread hung and another one ended; a task
 * is restarted repeatedly; a connector makes no progress; one falls behind; dead letters cannot be written.
 */
const EXPECTED = [
  ...['SluiceConnectorFailed', 'SluiceTaskFailed', 'SluiceRecordsFail', 'SluiceEventLoopBlocked'],
  ...['SluiceTasksRestartAgain', 'SluiceConnectorStalled', 'SluiceThreadEnded', 'SluiceSinkFallsBehind'],
  'SluiceDeadLettersLost',
];
const EXPECTED_OF_OTHERS = ['ConnectFailedConnector', 'ConnectFailedTask', 'Failed connector task'];
/** An alert that fires on every machine without container metrics. */
const OF_CONTAINERS = 'ConnectContainersDown';

/** Evaluates public and our own alert rules and dashboards with Prometheus (`apt-get install prometheus`). */
export const alerts: Repeat = {
  unit: 'runs',
  defaultCount: 1,
  run: async ({ print }) => {
    const version = await promisify(execFile)('prometheus', ['--version']).catch(() => undefined);
    if (version === undefined) {
      print('left out: there is no Prometheus here (apt-get install prometheus)');
      return true;
    }
    print(version.stdout.split('\n')[0] ?? '');
    const folder = await mkdtemp(join(tmpdir(), 'sluice-alerts-'));
    const worker = await WorkerProcess.start({
      properties: {
        'plugin.path': PLUGINS,
        'metrics.naming': 'strimzi,confluent,reporter',
        'metrics.listeners': 'http://127.0.0.1:0',
        'task.hang.timeout.ms': '3000',
      },
    });
    try {
      return await watched(worker, folder, print);
    } finally {
      await worker.discard();
      await rm(folder, { recursive: true, force: true });
    }
  },
};

async function watched(worker: WorkerProcess, folder: string, print: RepeatOptions['print']): Promise<boolean> {
  const { prometheus, ask } = await startPrometheus(worker, folder);
  try {
    const { feed, topics } = await runConnectors(worker);
    const timer = setInterval(() => void feed(), 500);
    const firing = async () => {
      const { alerts: all } = await ask<{ alerts: { state: string; labels: { alertname: string } }[] }>('alerts');
      const names = all.filter(({ state }) => state === 'firing').map(({ labels }) => labels.alertname);
      return [...new Set(names)].sort();
    };
    const query = async (expression: string) =>
      (await ask<{ result: unknown[] }>(`query?query=${encodeURIComponent(expression)}`)).result;
    try {
      await until(
        async () => (await query('rate(kafka_connect_sink_task_sink_record_read_total[1m]) > 0')).length > 0,
        'records are counted',
        { timeoutMs: 60_000 },
      );
      const before = (await firing()).filter((name) => name !== OF_CONTAINERS);
      print(`while all is well, ${before.length === 0 ? 'nothing' : before.join(', ')} fires`);
      const dashboards = await evaluateDashboards(query, print);
      await breakThings(worker, topics);
      const expected = [...EXPECTED, ...(existsSync(PUBLIC) ? EXPECTED_OF_OTHERS : [])];
      let quiet: string[] = expected;
      const isFiring = async () => {
        const names = await firing();
        quiet = expected.filter((name) => !names.includes(name));
        return quiet.length === 0;
      };
      try {
        await until(isFiring, 'the alerts fire', { timeoutMs: 90_000 });
      } catch {
        print(`these do not fire: ${quiet.join(', ')}`);
        return false;
      }
      print(
        `with failed connectors, tasks, records and threads, and others that do not get on: ${(await firing()).join(', ')}`,
      );
      return dashboards && before.length === 0;
    } finally {
      clearInterval(timer);
    }
  } finally {
    await prometheus.stop(5000);
  }
}

/** Topics of broken connectors: of a sink that falls behind, and of dead letters. */
interface BrokenTopics {
  readonly behind: string;
  readonly letters: string;
}

/** Numbers of records that exceed the limit in the alert for sinks that fall behind: at first, and with each feed. */
const BEHIND = { first: 12_000, more: 100 };

/**
 * Runs a source and a sink. Resolves with a function that sends a record to the sink, and with the topics of the broken
 * connectors.
 */
async function runConnectors(worker: WorkerProcess): Promise<{ feed: () => Promise<void>; topics: BrokenTopics }> {
  const [traffic, target] = await Promise.all([KafkaTraffic.shared(), database('alerts')]);
  const topic = uniqueName('alerts');
  const topics = { behind: `${topic}-behind`, letters: `${topic}-letters` };
  const client = createKafkaClient({ 'bootstrap.servers': (await broker()).bootstrapServers }, silentLogger);
  const admin = client.admin();
  // No record fits into this topic.
  const settings = { 'max.message.bytes': '10' };
  await admin.createTopic({ name: topics.letters, partitions: 1, replicationFactor: 1, settings });
  await admin.close();
  await Promise.all([topic, `${topic}-lines`, topics.behind].map((name) => traffic.createTopic(name)));
  const file = fileURLToPath(import.meta.url);
  const options = { topics: topic, 'protocol.type': 'line_lp', 'errors.tolerance': 'all' };
  await worker.rest.create('alerts-sink', sinkConfig(target, options));
  await worker.rest.create('alerts-source', { 'connector.class': 'FileStreamSource', file, topic: `${topic}-lines` });
  let sent = 0;
  const feed = async (): Promise<void> => {
    sent += 1;
    const value = broken ? 'garbage' : `m v=1 ${String(sent)}`;
    await traffic.produce(topic, [{ value }]).catch(() => undefined);
    if (!broken) return;
    const more = Array.from({ length: behind ? BEHIND.more : BEHIND.first }, () => ({ value }));
    behind = true;
    await traffic.produce(topics.behind, more).catch(() => undefined);
  };
  return { feed, topics };
}

let broken = false;
let behind = false;

async function breakThings(worker: WorkerProcess, { behind: topic, letters }: BrokenTopics): Promise<void> {
  broken = true;
  const source = { 'connector.class': 'UnrulySource', topic: 'alerts-unruly' };
  await worker.rest.create('alerts-failed-connector', { ...source, 'connector.does': 'timer' });
  await worker.rest.create('alerts-failed-task', { ...source, 'task.does': 'timer' });
  await worker.rest.create('alerts-still', { ...source, 'task.does': 'block' });
  const sink = { topics: topic, 'consumer.override.auto.offset.reset': 'earliest' };
  const waiting = { ...sink, 'connector.class': 'WaitingSink' };
  await worker.rest.create('alerts-stalled', { ...waiting, 'task.does': 'wait', 'stall.after.ms': '1000' });
  await worker.rest.create('alerts-hangs', { ...waiting, 'task.does': 'loop', 'task.isolation': 'own' });
  await worker.rest.create('alerts-behind', { ...waiting, 'task.does': 'nothing', 'rate.limit.records': '10' });
  const away = { host: '127.0.0.1', port: await freePort(), user: 'u', password: 'p', database: 'd', url: '' };
  const impatient = { 'connection.attempts': '1', 'restart.backoff.ms': '200', 'restart.backoff.max.ms': '500' };
  await worker.rest.create('alerts-away', sinkConfig(away, { ...sink, 'protocol.type': 'line_lp', ...impatient }));
  const lost = { 'errors.tolerance': 'all', 'errors.deadletterqueue.topic.name': letters };
  await worker.rest.create('alerts-letters', {
    ...waiting,
    'task.does': 'nothing',
    'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
    ...lost,
  });
}

/**
 * Returns true if every expression of our own dashboard returns data. Expressions of other dashboards without data are
 * only printed.
 */
async function evaluateDashboards(
  query: (expression: string) => Promise<unknown[]>,
  print: RepeatOptions['print'],
): Promise<boolean> {
  let isWhole = true;
  const others = ['strimzi-connect.json', 'cp-connect.json', 'strimzi-reporter-connect.json'].map(
    (file) => PUBLIC + file,
  );
  for (const file of [`${OWN}grafana-dashboard.json`, ...others].filter(existsSync)) {
    const expressions = expressionsOf(JSON.parse(await readFile(file, 'utf8'))).filter(isQuery);
    const empty: string[] = [];
    for (const expression of expressions)
      if ((await query(withValues(expression))).length === 0) empty.push(expression);
    print(
      `${file.replace(/^.*\//, '')}: ${String(expressions.length - empty.length)} of ${String(expressions.length)} expressions have data`,
    );
    for (const expression of empty) print(`  none: ${expression}`);
    if (file.startsWith(OWN) && empty.length > 0) isWhole = false;
  }
  return isWhole;
}

function isQuery(expression: string): boolean {
  return expression !== '' && expression !== 'prometheus' && !/^(?:label_values|query_result)\(/.test(expression);
}

function withValues(expression: string): string {
  return expression
    .replaceAll('$kubernetes_namespace', LABELS.namespace)
    .replaceAll('$strimzi_connect_cluster_name', LABELS.strimzi_io_cluster)
    .replaceAll('$env', LABELS.env)
    .replaceAll('$__rate_interval', '1m')
    .replaceAll(/\$\w+/g, '.*');
}

/** Starts a Prometheus that scrapes the worker every second, with the rules of all files, which fire without delay. */
async function startPrometheus(worker: WorkerProcess, folder: string) {
  const files = [`${OWN}alert-rules.yml`, `${PUBLIC}strimzi-alerts.yaml`, `${PUBLIC}cp-alerts.yml`].filter(existsSync);
  const rules = await Promise.all(
    files.map(async (file, index) => {
      const copy = join(folder, `rules-${String(index)}.yml`);
      const text = (await readFile(file, 'utf8')).replaceAll(/^( *for:).*$/gm, '$1 0s');
      // Kubernetes resources contain the groups below `spec`.
      const [, inSpec] = /^spec:\n([\s\S]*)$/m.exec(text) ?? [];
      await writeFile(copy, inSpec?.replaceAll(/^ {2}/gm, '') ?? text);
      return copy;
    }),
  );
  const [, host] = /Metrics are at http:\/\/([\d.:]+)\/metrics/.exec(worker.log) ?? [];
  if (host === undefined) throw new Error('The worker does not say where its metrics are');
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: rules,
    scrape_configs: [{ job_name: 'kafka-connect', static_configs: [{ targets: [host], labels: LABELS }] }],
  };
  const configFile = join(folder, 'prometheus.yml');
  await writeFile(configFile, JSON.stringify(config));
  const address = `127.0.0.1:${String(await freePort())}`;
  const prometheus = await ServiceProcess.spawn({
    title: 'Prometheus',
    command: 'prometheus',
    args: [
      `--config.file=${configFile}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${address}`,
    ],
    logFile: join(folder, 'prometheus.log'),
    stopSignals: ['SIGTERM', 'SIGKILL'],
  });
  const isReady = async () => (await fetch(`http://${address}/-/ready`).catch(() => undefined))?.status === 200;
  await until(isReady, 'Prometheus is ready', { timeoutMs: 60_000 });
  const ask = async <T>(path: string): Promise<T> => {
    const answer = (await (await fetch(`http://${address}/api/v1/${path}`)).json()) as { data?: T; error?: string };
    if (answer.data === undefined) throw new Error(`${path}: ${answer.error ?? 'no answer'}`);
    return answer.data;
  };
  return { prometheus, ask };
}
