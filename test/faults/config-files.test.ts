import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, request, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { developmentCertificate } from '../../plugins/database-http/transport/certificate.ts';
import { loadWorkerConfig } from '../../src/config/worker-config.ts';
import { freePort } from '../../src/dev/ports.ts';
import { silentLogger } from '../../src/observe/logger.ts';
import { startWorker } from '../../src/worker/worker.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import type { ConnectRest } from '../support/rest.ts';
import { broker, database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { builtCli } from '../support/worker-build.ts';
import { WorkerCluster } from '../support/worker-cluster.ts';

interface Run {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

type Files = Readonly<Record<string, string>>;

const SECRET = 'x9-Tr0ub4dor-in-a-file';

describe('connectors in files', () => {
  let cluster: WorkerCluster;
  let rest: ConnectRest;
  let db: TestDatabase;
  let sql: SqlClient;
  let kafka: KafkaTraffic;
  let root = '';
  let cli = '';
  let url = '';
  let role = '';

  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'sluice-files-'));
    [cluster, db, kafka, cli] = await Promise.all([
      WorkerCluster.start(2, {}),
      database('files'),
      KafkaTraffic.shared(),
      builtCli(),
    ]);
    sql = new SqlClient(db);
    role = uniqueName('files').replaceAll('-', '_');
    await sql.run(
      `create role ${role} superuser login password '${SECRET}'`,
      'create table filed (ts timestamptz(3), n int8, site varchar(8), primary key (ts, site))',
      "comment on column filed.site is 'sluice:primary-tag'",
    );
    await cluster.settled();
    // All commands ask a worker that must forward what they change.
    const leads = await Promise.all(
      cluster.workers.map(async (worker) => (await worker.rest.get<{ is_leader: boolean }>('/cluster')).body.is_leader),
    );
    ({ url, rest } = cluster.worker(leads.indexOf(false)));
  });

  beforeEach(async () => {
    const { body } = await rest.get<string[]>('/connectors');
    for (const name of body) await rest.delete(`/connectors/${name}`);
  });

  after(async () => {
    await cluster.discard();
    await sql.close();
    await rm(root, { recursive: true, force: true });
  });

  async function folderOf(files: Files): Promise<string> {
    const folder = join(root, uniqueName('folder'));
    await mkdir(folder);
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    return folder;
  }

  async function sluice(args: readonly string[], at = url, environment: Files = {}): Promise<Run> {
    const child = spawn(process.execPath, [cli, ...args, '--url', at], {
      env: { ...process.env, FILES_ROLE: role, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const printed = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.err += text));
    const [code] = (await once(child, 'close')) as [number | null];
    assert.ok(!`${printed.out}${printed.err}`.includes(SECRET), printed.out + printed.err);
    return { code, ...printed };
  }

  const configOf = async (name: string) => (await rest.get<Files>(`/connectors/${name}/config`)).body;
  const names = async () => (await rest.get<string[]>('/connectors')).body.sort();

  /** A sink as YAML, with variables. */
  const sinkFile = (topic: string, type = 'line_lp') => `name: lines
config:
  connector.class: com.db.kafka.connect.sink.DbSinkConnector
  topics: [${topic}]
  tasks.max: 1
  protocol.type: ${type}
  timestamp.precision: ms
  connection.url: jdbc:db://${db.host}:${String(db.port)}/${db.database}
  connection.user: \${FILES_ROLE}
  connection.password: \${FILES_SECRET}
  errors.tolerance: \${TOLERANCE:-none}
  key.converter: org.apache.kafka.connect.storage.StringConverter
  value.converter: org.apache.kafka.connect.storage.StringConverter
`;
  const copyFile = (more: Files = {}) =>
    JSON.stringify({ name: 'copy', config: { 'connector.class': 'FileStreamSink', file: '/dev/null', ...more } });
  const tailFile = (topic: string) =>
    `name=tail\nconnector.class=FileStreamSource\nfile=${join(root, 'tailed')}\ntopic=${topic}\n`;

  it('are planned, applied, and planned again without a difference; drift shows, and only --prune deletes', async () => {
    const topic = uniqueName('filed').replaceAll('-', '_');
    const other = uniqueName('other');
    await Promise.all([topic, other].map((name) => kafka.createTopic(name)));
    const lines = [1, 2, 3].map((n) => `filed,site=a n=${String(n)}i ${String(1_700_000_000_000 + n)}`);
    await kafka.produce(
      topic,
      lines.map((value) => ({ value })),
    );
    await writeFile(join(root, 'tailed'), '');
    await rest.create('kept', { 'connector.class': 'FileStreamSink', topics: other, file: '/dev/null' });
    const folder = await folderOf({
      'lines.yaml': sinkFile(topic),
      'copy.json': copyFile({ topics: other, 'tasks.max': '2' }),
      'tail.properties': tailFile(other),
      'values.properties': `FILES_SECRET=${SECRET}\n`,
    });
    const values = ['--var-file', join(folder, 'values.properties')];

    const first = await sluice(['plan', folder, '--detailed-exitcode', ...values]);
    assert.equal(first.code, 2, first.err);
    assert.match(first.out, /\+ create copy \(copy\.json:1\)\n/);
    assert.match(first.out, /\+ create tail \(tail\.properties:1\)\n/);
    assert.match(
      first.out,
      /\+ create lines \(lines\.yaml:1\)\n(?: {4}.*\n)* {4}\+ connection\.password: "\[hidden\]"/,
    );
    assert.match(first.out, new RegExp(`\\+ connection\\.user: "${role}"`));
    assert.match(first.out, new RegExp(`dry run with the newest messages of ${topic}: 3 messages, 3 rows, no faults`));
    assert.match(first.out, /In the cluster, in no file, and kept without --prune: kept\n/);
    assert.match(first.out, /3 to create, 0 to change, 0 to delete, 0 unchanged\n$/);
    const unasked = await sluice(['apply', folder, ...values]);
    assert.deepEqual(
      [unasked.code, unasked.err],
      [1, 'Nothing was applied: without a terminal to ask, --yes is needed\n'],
    );
    assert.deepEqual(await names(), ['kept'], 'nothing is written without apply and a yes');
    assert.equal(await sql.number('select count(*) from filed'), 0, 'a dry run writes nothing');

    const applied = await sluice(['apply', folder, '--yes', ...values]);
    assert.equal(applied.code, 0, applied.out + applied.err);
    assert.match(applied.out, /create lines: done\n(?:.*\n)*3 applied; the cluster is as the files describe it\n$/);
    assert.deepEqual(await names(), ['copy', 'kept', 'lines', 'tail']);
    assert.equal((await configOf('lines'))['connection.password'], SECRET);
    await rest.untilState('lines', 'RUNNING', 1);
    await rest.untilState('copy', 'RUNNING', 2);
    const again = await sluice(['plan', folder, '--detailed-exitcode', ...values]);
    assert.deepEqual(
      [again.code, again.out.split('\n').at(-2)],
      [0, '0 to create, 0 to change, 0 to delete, 3 unchanged'],
    );

    await rest.request('PATCH', '/connectors/copy/config', { file: '/dev/zero', 'tasks.max': null });
    const drifted = await sluice(['plan', folder, '--detailed-exitcode', ...values]);
    assert.equal(drifted.code, 2);
    assert.match(
      drifted.out,
      /^~ change copy \(copy\.json:1\)\n {4}~ file: "\/dev\/zero" -> "\/dev\/null"\n {4}\+ tasks\.max: "2"\n {4}restarts the connector and its tasks \(\d\)\n/,
    );
    assert.equal(
      (await sluice(['plan', folder, ...values])).code,
      0,
      'a difference is an exit code only where asked for',
    );

    await writeFile(join(folder, 'lines.yaml'), sinkFile(topic, 'json_db'));
    const wrong = await sluice(['plan', folder, '--json', ...values]);
    const { connectors } = JSON.parse(wrong.out) as {
      connectors: { name: string; action: string; dryRun?: { records: number; rows: number; faults: string[] } }[];
    };
    const dryRun = connectors.find(({ name }) => name === 'lines')?.dryRun;
    assert.deepEqual([dryRun?.records, dryRun?.rows, dryRun?.faults.length], [3, 0, 3]);
    await writeFile(join(folder, 'lines.yaml'), sinkFile(topic));

    const pruned = await sluice(['apply', folder, '--yes', '--prune', '--no-dry-run', ...values]);
    assert.equal(pruned.code, 0, pruned.out + pruned.err);
    assert.match(pruned.out, /- delete kept\n {4}ends the connector and its tasks \(1\)\n/);
    assert.deepEqual(await names(), ['copy', 'lines', 'tail']);
    assert.equal((await configOf('copy'))['file'], '/dev/null');
  }).timeout(60_000);

  it('are refused with file, line and key, all at once, and nothing is applied', async () => {
    const unreadable = await folderOf({
      'a.json': '{"name": "a",\n  "file": "${NOT_SET}"}',
      'b.yaml': 'name: b\nfile: 1\nfile: 2\n',
    });
    const { code, err } = await sluice(['plan', unreadable]);
    assert.equal(code, 1);
    assert.match(err, /^a\.json:2: The variable NOT_SET has no value: .*\nb\.yaml:3: /);

    const topic = uniqueName('other');
    const folder = await folderOf({
      'copy.json': copyFile({ topics: topic, 'tasks.max': 'many', 'tasks.mxa': '2' }),
      'tail.properties': tailFile(topic),
    });
    const planned = await sluice(['plan', folder, '--detailed-exitcode']);
    assert.equal(planned.code, 1);
    assert.match(planned.out, /create copy \(copy\.json:1\)\n(?: {4}.*\n)* {4}error: tasks\.max: Invalid value many /);
    assert.match(planned.out, /\n {4}warning: unknown option tasks\.mxa; did you mean tasks\.max\?\n/, 'N6');
    assert.match(planned.out, /2 to create, 0 to change, 0 to delete, 0 unchanged, 1 not valid\n$/);
    const applied = await sluice(['apply', folder, '--yes']);
    assert.deepEqual([applied.code, applied.err], [1, 'Nothing was applied: not all configurations are valid\n']);
    assert.deepEqual(await names(), []);
  }).timeout(30_000);

  it('that another user changes while they are applied stay as they are, the others are applied', async () => {
    const topic = uniqueName('other');
    await kafka.createTopic(topic);
    const sink = { 'connector.class': 'FileStreamSink', topics: topic, file: '/dev/null' };
    await rest.create('b-changed', sink);
    const folder = await folderOf({
      'a.json': JSON.stringify({ name: 'a-new', ...sink }),
      'b.json': JSON.stringify({ name: 'b-changed', ...sink, 'tasks.max': '2' }),
    });
    const between = await beforeFirstWrite(url, async () => {
      await rest.request('PATCH', '/connectors/b-changed/config', { file: '/dev/zero' });
    });
    try {
      const { code, out } = await sluice(['apply', folder, '--yes'], between.url);
      assert.equal(code, 1);
      assert.match(
        out,
        /create a-new: done\nchange b-changed: the connector was changed since the plan was made \(file\); plan again\n/,
      );
      assert.match(out, /1 applied, 1 failed\n$/);
    } finally {
      between.server.close();
    }
    assert.deepEqual(await names(), ['a-new', 'b-changed']);
    const { file, 'tasks.max': tasks } = await configOf('b-changed');
    assert.deepEqual([file, tasks], ['/dev/zero', undefined]);
  }).timeout(30_000);

  it('are exported, secrets as variables, and a plan of what was exported has no difference', async () => {
    const topic = uniqueName('filed').replaceAll('-', '_');
    await kafka.createTopic(topic);
    const given = await folderOf({
      'lines.yaml': sinkFile(topic),
      'copy.json': `{"name": "copy", "state": "paused", "config": {"connector.class": "FileStreamSink", "topics": "${topic}", "file": "/tmp/$\${NAME}"}}`,
    });
    const applied = await sluice(['apply', given, '--yes'], url, { FILES_SECRET: SECRET });
    assert.equal(applied.code, 0, applied.out + applied.err);
    assert.equal((await configOf('copy'))['file'], '/tmp/${NAME}');
    await rest.untilState('copy', 'PAUSED', 0);
    for (const format of ['json', 'yaml', 'properties']) {
      const folder = join(root, uniqueName(`exported-${format}`));
      const secrets = `${folder}.secrets`;
      const exported = await sluice(['export', folder, '--format', format, '--secrets-file', secrets]);
      assert.equal(exported.code, 0, exported.err);
      assert.equal(exported.out, ['copy', 'lines'].map((name) => `${join(folder, `${name}.${format}`)}\n`).join(''));
      const text = await readFile(join(folder, `lines.${format}`), 'utf8');
      assert.ok(text.includes('${LINES_CONNECTION_PASSWORD}') && !text.includes(SECRET), text);
      assert.equal(await readFile(secrets, 'utf8'), `LINES_CONNECTION_PASSWORD=${SECRET}\n`);
      assert.equal((await stat(secrets)).mode & 0o777, 0o600);
      const plan = await sluice(['plan', folder, '--prune', '--detailed-exitcode', '--var-file', secrets]);
      assert.deepEqual([plan.code, plan.out], [0, '0 to create, 0 to change, 0 to delete, 2 unchanged\n']);
      const twice = await sluice(['export', folder, '--format', format]);
      assert.equal(twice.code, 1);
      assert.match(twice.err, /^These files exist; --force overwrites them: /);
    }
  }).timeout(60_000);

  it('are read and written over https as a user of basic authentication', async () => {
    const folder = await folderOf({
      'copy.json': copyFile({ topics: uniqueName('none') }),
      'users.txt': 'ann=s3cret\n',
      'password.txt': 's3cret\n',
    });
    const { certificatePath, keyPath, authorityPath } = await developmentCertificate(folder);
    const store = join(folder, 'server.pem');
    await writeFile(store, `${await readFile(keyPath, 'utf8')}${await readFile(certificatePath, 'utf8')}`);
    const properties = {
      'bootstrap.servers': (await broker()).bootstrapServers,
      'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
      'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
      'offset.storage.file.filename': join(folder, 'offsets'),
      listeners: `https://127.0.0.1:${String(await freePort())}`,
      'ssl.keystore.type': 'PEM',
      'ssl.keystore.location': store,
      'rest.extension.classes': 'BasicAuthSecurityRestExtension',
      'rest.basic.auth.credentials.file': join(folder, 'users.txt'),
    };
    const worker = await startWorker(loadWorkerConfig({ mode: 'standalone', properties }), { logger: silentLogger });
    try {
      await worker.started;
      const trusting = ['--cacert', authorityPath];
      const distrusting = await sluice(['plan', folder], worker.url);
      assert.deepEqual([distrusting.code, distrusting.err.includes('certificate')], [1, true], distrusting.err);
      const stranger = await sluice(['plan', folder, ...trusting], worker.url);
      assert.match(stranger.err, /failed with status 401: User cannot access the resource\./);
      const byFile = ['--user', 'ann', '--password-file', join(folder, 'password.txt')];
      const applied = await sluice(['apply', folder, '--yes', ...trusting, ...byFile], worker.url);
      assert.equal(applied.code, 0, applied.out + applied.err);
      const byVariable = ['plan', folder, '--detailed-exitcode', ...trusting, '--user', 'ann'];
      const planned = await sluice(byVariable, worker.url, { SLUICE_PASSWORD: 's3cret' });
      assert.deepEqual([planned.code, planned.out], [0, '0 to create, 0 to change, 0 to delete, 1 unchanged\n']);
    } finally {
      await worker.stop();
    }
  }).timeout(30_000);
});

/** A proxy of the worker at `target`. It runs `act` before it forwards the first request that creates a connector. */
async function beforeFirstWrite(target: string, act: () => Promise<void>): Promise<{ server: Server; url: string }> {
  let acted = false;
  const pass = async (from: IncomingMessage, to: ServerResponse): Promise<void> => {
    if (from.method === 'POST' && from.url === '/connectors' && !acted) {
      acted = true;
      await act();
    }
    const { method, headers } = from;
    from.pipe(
      request(`${target}${from.url ?? ''}`, { method, headers }, (answer) => {
        to.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(to);
      }),
    );
  };
  const server = createServer((from, to) => void pass(from, to));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { server, url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` };
}
