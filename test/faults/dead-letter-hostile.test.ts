import assert from 'node:assert/strict';
import { keepingLetters } from '../support/connectors.ts';
import { uniqueName } from '../support/services.ts';
import { until } from '../support/until.ts';
import { SinkFixture } from '../integration/sink-fixture.ts';

const JSON_CONVERTER = 'org.apache.kafka.connect.json.JsonConverter';
const SCHEMALESS = {
  'protocol.type': 'struct',
  'value.converter': JSON_CONVERTER,
  'value.converter.schemas.enable': 'false',
  'auto.create': 'true',
  'auto.evolve': 'add',
};
const HEADER = '__connect.errors.';

type Chain = Readonly<Record<string, string>>;

interface Replay {
  readonly id: number;
  readonly state: string;
  readonly selected: number;
  readonly failed: number;
  readonly reason: string | null;
}

/** The same transform many times, one after the other. */
function repeated(count: number, type: string, options: Chain): Chain {
  const names = Array.from({ length: count }, (_, index) => `t${String(index)}`);
  return Object.fromEntries([
    ['transforms', names.join()],
    ...names.flatMap((name) => [
      [`transforms.${name}.type`, `org.apache.kafka.connect.transforms.${type}`],
      ...Object.entries(options).map(([option, value]) => [`transforms.${name}.${option}`, value]),
    ]),
  ]) as Chain;
}

/** Objects within objects, each with some fields. */
function nested(depth: number): object {
  let value: object = { id: 1 };
  for (let level = 0; level < depth; level++) value = { below: value, a: 1, b: 2 };
  return value;
}

describe('replays of dead letters by a hostile client', () => {
  let fixture: SinkFixture;
  let connector: string;
  let letters: string;
  let bystander: string;
  let delivered = 0;

  before(async () => {
    fixture = await SinkFixture.create('hostile', { 'task.threads': '1' });
    letters = uniqueName('dead');
    const topic = await fixture.topicOf([JSON.stringify({ id: 0 })]);
    connector = await fixture.start(topic, { ...SCHEMALESS, ...keepingLetters(letters) });
    await fixture.done(connector, 1);
    bystander = await fixture.topicOf([]);
    await fixture.start(bystander, SCHEMALESS);
    await fixture.kafka.produce(letters, [
      { value: JSON.stringify({ id: 1 }) },
      { value: JSON.stringify(nested(200)) },
    ]);
  });
  after(() => fixture.close());

  async function ask(method: string, path: string, body?: unknown): Promise<{ status: number; text: string }> {
    const response = await fetch(`${fixture.sluice.rest.url}/connectors/${connector}/dead-letters${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
    });
    return { status: response.status, text: await response.text() };
  }

  async function replayed(transforms: Chain | undefined): Promise<Replay> {
    const begun = await ask('POST', '/replay', { transforms, rate: 10_000 });
    assert.equal(begun.status, 201, begun.text);
    const { id } = JSON.parse(begun.text) as Replay;
    return until(
      async () => {
        const replay = JSON.parse((await ask('GET', `/replay/${String(id)}`)).text) as Replay;
        return replay.state === 'RUNNING' ? undefined : replay;
      },
      'the replay has ended',
      { timeoutMs: 60_000 },
    );
  }

  /** A sink in the same thread delivers, and no thread has ended. */
  async function othersDeliver(): Promise<void> {
    delivered += 1;
    await fixture.kafka.produce(bystander, [{ value: JSON.stringify({ id: delivered }) }]);
    await until(
      async () => (await fixture.sql.number(`select coalesce(max(id), 0) from ${bystander}`)) === delivered,
      'the other sink delivers',
    );
    assert.doesNotMatch(fixture.sluice.log, /Thread \d+ \(tasks\) (?:ended|hangs)/);
  }

  const manyFields = Array.from({ length: 9_000 }, (_, index) => `f${String(index)}`).join();
  const doubling = '${topic}${topic}';
  const chains: readonly (readonly [what: string, chain: Chain, failed: number | undefined])[] = [
    ['400 levels of HoistField', repeated(400, 'HoistField$Value', { field: 'x' }), undefined],
    ['an explosive pattern', repeated(1, 'RegexRouter', { regex: '(.|.|..|..)+#x', replacement: 'x' }), 2],
    ['names that double 40 times', repeated(40, 'TimestampRouter', { 'topic.format': doubling }), 2],
    ['matches that double 40 times', repeated(40, 'RegexRouter', { regex: '(.*)', replacement: '$1$1' }), 2],
    ['a long delimiter', repeated(1, 'Flatten$Value', { delimiter: '.'.repeat(60_000) }), 1],
    ['a long list of fields', repeated(1, 'ReplaceField$Value', { exclude: manyFields }), undefined],
    ['the topic of offsets', repeated(1, 'RegexRouter', { regex: '.*', replacement: '__consumer_offsets' }), undefined],
    ['a catalogue', repeated(1, 'RegexRouter', { regex: '.*', replacement: 'pg_catalog.pg_class' }), undefined],
  ];

  for (const [what, chain, failed] of chains) {
    it(`with a chain of ${what} end, count what fails, and disturb no other task`, async () => {
      const preview = await ask('POST', '/preview', { transforms: chain });
      assert.equal(preview.status, 200, preview.text.slice(0, 500));
      const replay = await replayed(chain);
      assert.equal(replay.state, 'DONE', replay.reason ?? '');
      assert.ok(replay.selected >= 2);
      if (failed !== undefined) assert.ok(replay.failed >= failed, `${String(replay.failed)} failed`);
      await othersDeliver();
    });
  }

  it('with a chain that is too large, unknown or no chain are refused, and their previews too', async () => {
    const refused: readonly (readonly [Chain, RegExp])[] = [
      [repeated(501, 'HoistField$Value', { field: 'x' }), /transforms has more than 500 names/],
      [repeated(1, 'HoistField$Value', { field: 'x'.repeat(70_000) }), /more than 64000 characters/],
      [{ transforms: 'x', 'transforms.x.type': 'no.such.Transform' }, /no\.such\.Transform/],
      [
        { ...repeated(1, 'HoistField$Value', { field: 'x' }), 'connector.class': 'FileStreamSink' },
        /not connector\.class/,
      ],
      [
        Object.fromEntries(Array.from({ length: 5_001 }, (_, index) => [`transforms.x${String(index)}`, ''])),
        /5000 keys/,
      ],
    ];
    for (const [chain, message] of refused) {
      for (const path of ['/replay', '/preview']) {
        const { status, text } = await ask('POST', path, { transforms: chain });
        assert.equal(status, 400, text.slice(0, 300));
        assert.match(text, message);
      }
    }
    await othersDeliver();
  });

  it('whose headers lie are listed, previewed and replayed, and disturb no other task', async () => {
    const lies: readonly Readonly<Record<string, string>>[] = [
      { [`${HEADER}topic`]: 'x'.repeat(100_000), [`${HEADER}partition`]: '0', [`${HEADER}offset`]: '0' },
      { [`${HEADER}topic`]: 't', [`${HEADER}partition`]: '-1', [`${HEADER}offset`]: '9'.repeat(100) },
      {
        [`${HEADER}topic`]: '__consumer_offsets',
        [`${HEADER}partition`]: '99999',
        [`${HEADER}offset`]: '999999999999999',
      },
      { [`${HEADER}connector.name`]: connector, [`${HEADER}task.id`]: '9'.repeat(15), [`${HEADER}stage`]: '<script>' },
      {
        [`${HEADER}exception.message`]: `x${' '.repeat(200_000)}:`,
        [`${HEADER}exception.stacktrace`]: 'Caused by: '.repeat(50_000),
      },
      { 'sluice.replay.attempt': '999999999999999', 'sluice.replay.letter': `connect-${connector}-replay-1/0/0` },
      {
        'sluice.timestamp': '999999999999999',
        'sluice.timestamp.type': 'x',
        'sluice.row': '-1',
        'sluice.sqlstate': '\0',
      },
      Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`${HEADER}${String(index)}`, 'x'])),
    ];
    await fixture.kafka.produce(
      letters,
      lies.map((headers, index) => ({ value: JSON.stringify({ id: 100 + index }), headers })),
    );
    const selection = { offsets: [{ partition: 0, from: 2 }] };
    const listed = await ask('GET', '');
    assert.equal(listed.status, 200, listed.text.slice(0, 300));
    const preview = await ask('POST', '/preview', { selection });
    assert.equal(preview.status, 200, preview.text.slice(0, 300));
    const replay = await replayed(undefined);
    assert.equal(replay.state, 'DONE', replay.reason ?? '');
    await othersDeliver();
  });
});
