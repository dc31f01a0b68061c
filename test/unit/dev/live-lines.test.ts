import assert from 'node:assert/strict';
import { cut, liveLines, redrawing } from '../../../src/dev/live-lines.ts';

const MOVED = {
  sinkRows: 12_345,
  sourceRecords: 678,
  connectors: [
    { name: 'well', state: 'RUNNING', tasks: Array.from({ length: 40 }, () => 'RUNNING'), waitsFor: [] },
    { name: 'half-broken', state: 'RUNNING', tasks: ['RUNNING', 'FAILED', 'RUNNING'], waitsFor: [] },
    {
      name: 'a-connector-with-a-name-that-is-longer-than-any-terminal-'.repeat(5),
      state: 'FAILED',
      tasks: [],
      waitsFor: [],
    },
    { name: 'resting', state: 'PAUSED', tasks: ['PAUSED'], waitsFor: ['t1', 'orders', 'payments'] },
  ],
  away: [],
};

const AWAY = [
  { service: 'Kafka', since: new Date(2026, 0, 2, 3, 4, 5), reason: 'connect ECONNREFUSED 127.0.0.1:9092' },
];

/** A terminal that knows what a redrawing uses. */
class Screen {
  readonly columns: number;
  readonly lines: string[] = [''];
  #row = 0;
  #column = 0;

  constructor(columns: number) {
    this.columns = columns;
  }

  write(text: string): void {
    for (const [part, count = '', command] of text.matchAll(/\x1b\[(\d*)([A-Z])|[^]/gu)) {
      if (command === 'A') this.#row = Math.max(0, this.#row - Number(count));
      else if (command === 'K') this.#set(this.#line().slice(0, this.#column));
      else if (command === 'J') this.lines.length = this.#row + (this.#column > 0 ? 1 : 0);
      else if (part === '\r') this.#column = 0;
      else if (part === '\n') this.#newLine();
      else this.#print(part);
    }
  }

  #print(character: string): void {
    if (this.#column === this.columns) this.#newLine();
    const line = this.#line();
    this.#set(line.slice(0, this.#column).padEnd(this.#column) + character + line.slice(this.#column + 1));
    this.#column += 1;
  }

  #newLine(): void {
    this.#row += 1;
    this.#column = 0;
    this.#set(this.#line());
  }

  #line(): string {
    return this.lines[this.#row] ?? '';
  }

  #set(line: string): void {
    this.lines[this.#row] = line;
  }
}

describe('the live view', () => {
  it('has the broken first, and counts tasks of one state', () => {
    assert.deepEqual(
      liveLines(MOVED).map((line) => cut(line, 60)),
      [
        '  Rows into PostgreSQL   12,345',
        '  Records into Kafka     678',
        '  half-broken            RUNNING  tasks: FAILED, 2 RUNNING',
        '  a-connector-with-a-name-that-… FAILED  tasks: none',
        '  resting                PAUSED  tasks: PAUSED  waits for t…',
        '  well                   RUNNING  tasks: 40 RUNNING',
      ],
    );
  });

  const shownAt: Readonly<Record<number, readonly string[]>> = {
    60: [
      '  Kafka is unreachable since 03:04:05: connect ECONNREFUSE…',
      '  Rows into PostgreSQL   12,345',
      '  Records into Kafka     678',
      '  half-broken            RUNNING  tasks: FAILED, 2 RUNNING',
      '  a-connector-with-a-name-that-… FAILED  tasks: none',
      '  resting                PAUSED  tasks: PAUSED  waits for …',
      '  well                   RUNNING  tasks: 40 RUNNING',
    ],
    80: [
      '  Kafka is unreachable since 03:04:05: connect ECONNREFUSED 127.0.0.1:9092',
      '  Rows into PostgreSQL   12,345',
      '  Records into Kafka     678',
      '  half-broken            RUNNING  tasks: FAILED, 2 RUNNING',
      '  a-connector-with-a-name-that-… FAILED  tasks: none',
      '  resting                PAUSED  tasks: PAUSED  waits for topic t1, orders, pa…',
      '  well                   RUNNING  tasks: 40 RUNNING',
    ],
    200: [
      '  Kafka is unreachable since 03:04:05: connect ECONNREFUSED 127.0.0.1:9092',
      '  Rows into PostgreSQL   12,345',
      '  Records into Kafka     678',
      '  half-broken            RUNNING  tasks: FAILED, 2 RUNNING',
      '  a-connector-with-a-name-that-… FAILED  tasks: none',
      '  resting                PAUSED  tasks: PAUSED  waits for topic t1, orders, payments',
      '  well                   RUNNING  tasks: 40 RUNNING',
    ],
  };
  for (const [columns, shown] of Object.entries(shownAt)) {
    it(`is cut at ${columns} columns, unreachable services first`, () => {
      const lines = liveLines({ ...MOVED, away: AWAY });
      assert.deepEqual(redrawing([], lines, { columns: Number(columns), rows: 24 }).drawn, shown);
    });
  }

  for (const columns of [60, 80, 120, 200]) {
    it(`is drawn over itself at ${String(columns)} columns, whatever the lines hold`, () => {
      const screen = new Screen(columns);
      screen.write('header\n');
      let before: readonly string[] = [];
      for (const sinkRows of [1, 1_000_000, 12]) {
        const lines = liveLines({ ...MOVED, sinkRows });
        const { text, drawn } = redrawing(before, lines, { columns, rows: 24 });
        assert.ok(!text.includes('\x1b[2'), 'nothing is erased before it is overwritten');
        screen.write(text);
        before = drawn;
        const expected = ['header', ...lines.map((line) => cut(line, columns - 1))];
        assert.deepEqual(
          screen.lines.filter((line) => line !== ''),
          expected,
        );
        assert.ok(drawn.every((line) => line.length < columns));
      }
      const { text } = redrawing(before, ['  one'], { columns, rows: 24 });
      screen.write(text);
      assert.deepEqual(
        screen.lines.filter((line) => line !== ''),
        ['header', '  one'],
      );
    });
  }

  it('is no higher than the terminal', () => {
    const lines = Array.from({ length: 30 }, (_, index) => String(index));
    const { drawn } = redrawing([], lines, { columns: 80, rows: 10 });
    assert.equal(drawn.length, 9);
    assert.equal(drawn[8], '  … 22 more');
  });

  it('cuts by the columns that characters take, and shows no commands to the terminal', () => {
    assert.equal(cut('表表表表', 5), '表表…');
    const named = liveLines({
      ...MOVED,
      connectors: [{ name: 'a\x1b[2Jb', state: 'RUNNING', tasks: [], waitsFor: [] }],
    });
    assert.equal(named[2], `  ${'a?[2Jb'.padEnd(22)} RUNNING  tasks: none`);
  });
});
