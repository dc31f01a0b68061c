import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sinkConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

const PROVIDERS = 'org.apache.kafka.common.config.provider';
const FIRST_PASSWORD = 'correct-horse"battery-staple';
const SECOND_PASSWORD = 'rotated-horse-battery-staple';
const FROM_ENVIRONMENT = 'value-of-the-environment';

interface Validation {
  readonly configs: readonly { readonly value: { readonly name: string; readonly value: string; errors: string[] } }[];
}

/** A worker whose connectors take a role's password from a file that is looked at again every second. */
describe('config providers', function () {
  let folder = '';
  let traffic: KafkaTraffic;
  let db: TestDatabase;
  let sql: SqlClient;
  let worker: WorkerProcess;
  let role = '';
  const topic = uniqueName('secrets');
  const answers: string[] = [];
  const deadLetters: string[] = [];

  async function ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }> {
    const { status, body: answer, headers } = await worker.rest.request(method, path, body);
    answers.push(`${JSON.stringify(answer)} ${JSON.stringify([...headers])}`);
    return { status, body: answer };
  }

  async function keepPassword(password: string): Promise<void> {
    const escaped = password.replaceAll('\\', '\\\\');
    await writeFile(join(folder, 'db.properties'), `password=${escaped}\nshort=7\n`);
  }

  function config(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    const { 'connection.password': _password, ...rest } = sinkConfig(db, {
      topics: topic,
      'protocol.type': 'json_db',
      'connection.user': role,
    });
    return { ...rest, 'connection.password': `\${file:${folder}/db.properties:password}`, ...more };
  }

  async function send(id: number): Promise<void> {
    const columns = [
      { name: 'k_timestamp', type: 'TIMESTAMPTZ', length: 64 },
      { name: 'id', type: 'INT8', length: 64 },
    ];
    const tags = [{ name: 'site', type: 'VARCHAR', length: 16, primary: true, nullable: false }];
    const message = { table: 'orders', columns, tags, data: [{ k_timestamp: 1_700_000_000_000 + id, id, site: 'a' }] };
    await traffic.produce(topic, [{ value: JSON.stringify(message) }]);
  }

  /** The records of an internal topic, once one is there that `isThere` says yes to. */
  async function internal(kind: 'config' | 'status', isThere: (record: string) => boolean): Promise<string[]> {
    const text = ({ key, value }: { key: Buffer | null; value: Buffer | null }): string =>
      `${key?.toString() ?? ''} ${value?.toString() ?? ''}`;
    const topicName = worker.properties[`${kind}.storage.topic`] ?? '';
    return (await traffic.read(topicName, (all) => all.some((record) => isThere(text(record))))).map(text);
  }

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-secrets-'));
    await mkdir(join(folder, 'mounted'));
    await writeFile(join(folder, 'mounted', 'token'), 'token-of-the-directory');
    await keepPassword(FIRST_PASSWORD);
    traffic = await KafkaTraffic.shared();
    await traffic.createTopic(topic);
    db = await database('secrets');
    sql = new SqlClient(db);
    role = uniqueName('secret-role').replaceAll('-', '_');
    await sql.run(`CREATE ROLE ${role} LOGIN PASSWORD '${FIRST_PASSWORD}'`, `GRANT ALL ON SCHEMA public TO ${role}`);
    worker = await WorkerProcess.start({
      environment: { SLUICE_TEST_VALUE: FROM_ENVIRONMENT, SLUICE_TEST_INTERVAL: '700' },
      properties: {
        'config.providers': 'file,directory,env',
        'config.providers.file.class': `${PROVIDERS}.FileConfigProvider`,
        'config.providers.file.param.allowed.paths': folder,
        'config.providers.file.param.ttl.ms': '1000',
        'config.providers.directory.class': `${PROVIDERS}.DirectoryConfigProvider`,
        'config.providers.directory.param.allowed.paths': join(folder, 'mounted'),
        'config.providers.env.class': `${PROVIDERS}.EnvVarConfigProvider`,
        'config.providers.env.param.allowlist.pattern': 'SLUICE_.*',
        'offset.flush.interval.ms': '${env:SLUICE_TEST_INTERVAL}',
      },
    });
  });

  after(async () => {
    await worker.discard();
    await sql.run(`DROP OWNED BY ${role}`, `DROP ROLE ${role}`);
    await sql.close();
    await rm(folder, { recursive: true });
  });

  it('a sink whose password is in a file writes rows, and its configuration shows the variable', async () => {
    await send(1);
    const created = await ask('POST', '/connectors', { name: 'kept', config: config() });
    assert.equal(created.status, 201);
    await worker.rest.untilState('kept', 'RUNNING', 1);
    await until(async () => (await sql.number('SELECT count(*) FROM orders')) === 1, 'the row is there');
    assert.deepEqual((await ask('GET', '/connectors/kept/config')).body, { ...config(), name: 'kept' });
    const tasks = (await ask('GET', '/connectors/kept/tasks')).body as { config: Record<string, string> }[];
    assert.equal(tasks[0]?.config['connection.password'], `\${file:${folder}/db.properties:password}`);
  });

  it('a changed value restarts the connector and its tasks', async () => {
    await sql.run(`ALTER ROLE ${role} PASSWORD '${SECOND_PASSWORD}'`);
    await keepPassword(SECOND_PASSWORD);
    await until(() => worker.log.includes('Values of config providers have changed'), 'the change is seen');
    // Connections from before are of no use to this check.
    await sql.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${role}'`);
    await send(2);
    await until(async () => (await sql.number('SELECT count(*) FROM orders')) === 2, 'the second row is there');
    await worker.rest.untilState('kept', 'RUNNING', 1);
  });

  it("a missing file is refused with Java's message; a missing key leaves the variable unchanged", async () => {
    const refused = await ask(
      'PUT',
      '/connectors/none/config',
      config({ 'connection.password': `\${file:${folder}/x:y}` }),
    );
    assert.deepEqual(refused, {
      status: 400,
      body: { error_code: 400, message: `Could not read properties from file ${folder}/x` },
    });
    const topics = `\${env:HOME}\${file:/etc/passwd:root}\${other:x:y}`;
    const given = { ...config({ topics }), name: 'left' };
    const validated = await ask('PUT', '/connector-plugins/DbSinkConnector/config/validate', given);
    assert.equal(shown(validated.body, 'topics').value, topics);
    assert.match(worker.log, /\$\{env:HOME\} in topics has no value and stays as it is/);
    assert.match(worker.log, /The path \/etc\/passwd is not allowed to be accessed/);
  });

  it('validation uses the values and says what is wrong without showing them', async () => {
    const secret = `\${file:${folder}/db.properties:password}`;
    const { body } = await ask('PUT', '/connector-plugins/DbSinkConnector/config/validate', {
      ...config({
        'tasks.max': secret,
        'errors.tolerance': secret,
        'errors.retry.timeout': '${env:SLUICE_TEST_VALUE}',
      }),
      name: 'judged',
    });
    assert.deepEqual(shown(body, 'tasks.max').errors, [
      'Invalid value [hidden] for configuration tasks.max: Not a number of type INT',
      'Invalid value null for configuration tasks.max: Value must be non-null',
    ]);
    assert.equal(shown(body, 'errors.tolerance').value, secret);
    assert.match(shown(body, 'errors.tolerance').errors[0] ?? '', /^Invalid value \[hidden\] for configuration/);
    assert.equal(shown(body, 'connection.password').value, '[hidden]');
    const url = await ask('PUT', '/connectors/url/config', config({ 'connection.url': secret }));
    assert.equal(url.status, 400);
  });

  it('a dead letter says what failed without the value that failed', async () => {
    const source = uniqueName('secret-fields');
    const letters = uniqueName('secret-letters');
    await traffic.createTopic(source);
    const schema = { type: 'struct', fields: [{ field: 'id', type: 'int32' }] };
    await traffic.produce(source, [{ value: JSON.stringify({ schema, payload: { id: 1 } }) }]);
    const { status } = await ask('POST', '/connectors', {
      name: 'letters',
      config: config({
        topics: source,
        'protocol.type': 'struct',
        'value.converter': JSON_CONVERTER,
        transforms: 't',
        'transforms.t.type': 'org.apache.kafka.connect.transforms.ExtractField$Value',
        'transforms.t.field': '${env:SLUICE_TEST_VALUE}',
        'errors.tolerance': 'all',
        'errors.log.enable': 'true',
        'errors.log.include.messages': 'true',
        'errors.deadletterqueue.topic.name': letters,
        'errors.deadletterqueue.topic.replication.factor': '1',
        'errors.deadletterqueue.context.headers.enable': 'true',
      }),
    });
    assert.equal(status, 201);
    const [letter] = await traffic.read(letters, (all) => all.length > 0);
    const headers = (letter?.headers ?? []).map(({ key, value }) => `${key}: ${String(value)}`);
    assert.ok(headers.includes('__connect.errors.exception.message: Unknown field: [hidden]'), headers.join('\n'));
    deadLetters.push(...headers, String(letter?.value));
  });

  it('no answer, internal topic, dead letter, trace or line of the log shows a value', async () => {
    const failing = config({
      transforms: 't',
      'transforms.t.type': 'org.apache.kafka.connect.transforms.Filter',
      'transforms.t.predicate': `\${directory:${folder}/mounted:token}`,
    });
    assert.equal((await ask('POST', '/connectors', { name: 'failing', config: failing })).status, 201);
    await until(async () => (await worker.rest.status('failing')).tasks[0]?.state === 'FAILED', 'its task fails');
    const { tasks } = await worker.rest.status('failing');
    assert.match(tasks[0]?.trace ?? '', /names the predicate \[hidden\], which is not in predicates/);
    for (const path of PATHS) await ask('GET', path);
    for (const path of ['/connectors/kept/restart?includeTasks=true', '/connectors/failing/tasks/0/restart']) {
      await ask('POST', path);
    }
    const { transforms: _failing, ...previewed } = failing;
    const shout = {
      transforms: 'shout',
      'transforms.shout.type': INSERT_FIELD,
      'transforms.shout.static.field': 'secret',
    };
    for (const variable of [`\${directory:${folder}/mounted:token}`, '${env:SLUICE_TEST_VALUE}']) {
      const shown = { ...previewed, ...shout, ...WITHOUT_SCHEMAS, 'transforms.shout.static.value': variable };
      const preview = await ask('POST', '/connector-plugins/DbSinkConnector/preview', {
        config: { ...shown, 'protocol.type': 'struct' },
        messages: [{ value: { id: 1 } }],
      });
      assert.equal(preview.status, 400, JSON.stringify(preview.body));
      assert.match(
        JSON.stringify(preview.body),
        /passwords and addresses only, not in .*transforms\.shout\.static\.value/,
      );
    }
    await ask('PUT', '/connectors/failing/stop');
    await ask('DELETE', '/connectors/failing/offsets');
    const records = [
      ...(await internal('config', (record) => record.startsWith('target-state-failing '))),
      ...(await internal('status', (record) => record.includes('names the predicate'))),
    ];
    assert.ok(records.some((record) => record.includes('${file:')));
    const everything = {
      answers: answers.join('\n'),
      records: records.join('\n'),
      deadLetters: deadLetters.join('\n'),
      log: worker.log,
    };
    for (const [where, text] of Object.entries(everything)) {
      for (const secret of [FIRST_PASSWORD, SECOND_PASSWORD, FROM_ENVIRONMENT, 'token-of-the-directory']) {
        const spellings = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
        for (const spelling of spellings) assert.ok(!text.includes(spelling), `${where} shows ${spelling}`);
      }
    }
  });
});

const INSERT_FIELD = 'org.apache.kafka.connect.transforms.InsertField$Value';
const JSON_CONVERTER = 'org.apache.kafka.connect.json.JsonConverter';
const WITHOUT_SCHEMAS = {
  'value.converter': JSON_CONVERTER,
  'value.converter.schemas.enable': 'false',
};

const PATHS = [
  '/',
  '/connectors',
  '/connectors?expand=info&expand=status',
  '/connectors/kept',
  '/connectors/kept/config',
  '/connectors/kept/status',
  '/connectors/kept/tasks',
  '/connectors/kept/tasks/0/status',
  '/connectors/kept/offsets',
  '/connectors/kept/topics',
  '/connectors/failing',
  '/connectors/failing/status',
  '/connectors/failing/tasks',
  '/connectors/failing/tasks/0/status',
  '/connector-plugins/DbSinkConnector/config',
  '/admin/loggers',
  '/health',
  '/cluster',
  '/metrics',
  '/connector-plugins?connectorsOnly=false',
  '/connectors/no-such/status',
];

function shown(body: unknown, name: string): { value: string; errors: string[] } {
  const found = (body as Validation).configs.find(({ value }) => value.name === name);
  assert.ok(found !== undefined, `${name} is in the answer: ${JSON.stringify(body)}`);
  return found.value;
}
