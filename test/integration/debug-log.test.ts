import assert from 'node:assert/strict';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string };

/** A message and some of the fields of its line. */
type Step = readonly [message: string, fields?: Readonly<Record<string, unknown>>];

/** The lines of the log in JSON; the verifiable connectors print other lines in between. */
function logLines({ log }: WorkerProcess): LogLine[] {
  return log.split('\n').flatMap((line) => {
    if (!line.startsWith('{"level"')) return [];
    try {
      return [JSON.parse(line) as LogLine];
    } catch {
      return [];
    }
  });
}

/** The first step that is not in the lines, after all steps before it; `undefined` if all are there, in this order. */
function missingStep(lines: readonly LogLine[], steps: readonly Step[]): Step | undefined {
  let from = 0;
  return steps.find(([message, fields = {}]) => {
    const at = lines.findIndex((line, index) => index >= from && line.msg === message && hasFields(line, fields));
    from = at + 1;
    return at < 0;
  });
}

function hasFields(line: LogLine, fields: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(fields).every(([name, value]) => JSON.stringify(line[name]) === JSON.stringify(value));
}

describe('the log at level DEBUG', () => {
  let worker: WorkerProcess;
  let kafka: KafkaTraffic;
  const [source, sink, topic] = [uniqueName('source'), uniqueName('sink'), uniqueName('followed')];

  before(async () => {
    const properties = { 'log.format': 'json', 'offset.flush.interval.ms': '200' };
    [worker, kafka] = await Promise.all([WorkerProcess.start({ properties }), KafkaTraffic.shared()]);
    await worker.rest.put('/admin/loggers/org.apache.kafka.connect', { level: 'DEBUG' });
    await kafka.createTopic(topic);
    await worker.rest.create(source, { 'connector.class': 'VerifiableSourceConnector', topic, throughput: '50' });
    await worker.rest.create(sink, { 'connector.class': 'VerifiableSinkConnector', topics: topic });
  });

  after(async () => {
    await worker?.discard();
  });

  async function untilLogged(steps: readonly Step[], ofTask?: string): Promise<readonly LogLine[]> {
    const lines = () =>
      logLines(worker).filter(({ connector, task }) => ofTask === undefined || (connector === ofTask && task === 0));
    await until(() => {
      assert.equal(missingStep(lines(), steps), undefined);
      return true;
    }, 'the log has all steps in their order');
    return lines();
  }

  it('follows a rebalance of the worker group up to the start of a task, with generation, connector and task', async () => {
    const task = `${source}-0`;
    const lines = await untilLogged([
      ['Read a config record', { connector: source, change: 'connector' }],
      ['A rebalance began', { reason: `connector ${source} was created` }],
      ['Joining the worker group'],
      ['Received a JoinGroup response'],
      ['Computed the assignment of a member', { assigned: [source], revoked: [] }],
      ['Received an assignment', { assigned: [source], revoked: [] }],
      ['Starting the connector', { connector: source }],
      ['Published task configurations', { connector: source, tasks: 1 }],
      ['Received an assignment', { assigned: [task], revoked: [] }],
      ['Starting a task', { connector: source, task: 0 }],
      ['The task changed its state', { connector: source, task: 0, state: 'RUNNING' }],
    ]);
    const generationOf = (message: string) => lines.findLast(({ msg }) => msg === message)?.['generation'];
    const assigned = lines.find(({ msg, assigned: work }) => {
      return msg === 'Received an assignment' && JSON.stringify(work) === JSON.stringify([task]);
    });
    const started = lines.find(({ msg, connector }) => msg === 'Starting a task' && connector === source);
    assert.ok(typeof generationOf('Received an assignment') === 'number');
    assert.equal(started?.['generation'], assigned?.['generation']);
  });

  it('follows records of a source from poll to stored offset', async () => {
    await untilLogged(
      [
        ['Polled records'],
        ['Sending records'],
        ['The records were acknowledged', { failed: 0 }],
        ['Flushing offsets', { offsets: 1 }],
        ['Flushed offsets'],
      ],
      source,
    );
  });

  it('follows records of a sink from poll to commit, with topic and partition', async () => {
    const place = { topic, partition: 0 };
    const lines = await untilLogged(
      [
        ['The partition was assigned', { ...place, offset: 0 }],
        ['Polled records', { ...place, firstOffset: 0 }],
        ['Put records'],
        ['Committing an offset', place],
        ['Committed an offset', place],
      ],
      sink,
    );
    const [polled, committed] = ['Polled records', 'Committed an offset'].map((message) =>
      lines.find(({ msg }) => msg === message),
    );
    assert.equal(polled?.['endOffset'], polled?.['records']);
    assert.ok(Number(committed?.['offset']) >= Number(polled?.['endOffset']));
  });

  it('follows a restart of a connector with its tasks', async () => {
    await worker.rest.post(`/connectors/${source}/restart?includeTasks=true`);
    await untilLogged([
      ['A restart was requested', { connector: source, restartConnector: true, tasks: [0] }],
      ['Restarting a task', { connector: source, task: 0 }],
      ['Stopping a task', { connector: source, task: 0 }],
      ['Stopped a task', { connector: source, task: 0 }],
      ['Starting a task', { connector: source, task: 0 }],
    ]);
    await untilLogged([
      ['A restart was requested', { connector: source }],
      ['Restarting the connector', { connector: source }],
      ['Stopped the connector', { connector: source }],
      ['Started the connector', { connector: source }],
      ['Restarted the connector', { connector: source }],
    ]);
  });
});
