import assert from 'node:assert/strict';
import { withDeadLetters } from '../../src/editor/dead-letter-options.ts';
import { chosenTables, includeOf, sourceSentence, type SourceTable } from '../../src/editor/source-tables.ts';

const table = (name: string, more: Partial<SourceTable> = {}): SourceTable => ({
  ...{ name, rows: 1000, precision: 'estimate' as const, problem: null },
  ...more,
});

describe('the tables of a new source', () => {
  const tables = [
    table('orders'),
    table('plant.meters', { rows: 250_000 }),
    table('notes', { problem: 'it has no timestamp column to read it by' }),
  ];

  it('are expressions that match exactly the chosen names', () => {
    const include = includeOf(['orders', 'plant.meters', 'a+b']);
    assert.equal(include, 'orders,plant\\.meters,a\\+b');
    assert.deepEqual(chosenTables([...tables, table('plantXmeters')], include), ['orders', 'plant.meters']);
    assert.equal(includeOf([]), undefined);
    assert.deepEqual(chosenTables(tables, undefined), []);
  });

  it('are named in one sentence before the source is created', () => {
    const say = (include: string | undefined, more: { mode?: string; prefix?: string } = {}) =>
      sourceSentence(tables, { include, mode: 'timestamp', prefix: 'kw', ...more });
    assert.equal(
      say(undefined),
      'Reads all 2 tables (251k existing rows) into topics that begin with kw, also tables that are created later.',
    );
    assert.equal(say('orders', { mode: 'bulk', prefix: '' }), 'Reads orders (1.0k rows each time) into topics.');
    assert.equal(say('nothing'), 'Reads no table: none matches.');
    assert.match(
      sourceSentence(undefined, { include: undefined, mode: '', prefix: '' }),
      /^Reads every table of the database/,
    );
  });
});

describe('the options that keep failed records', () => {
  it('are added, and keep a topic that is named already', () => {
    assert.deepEqual(withDeadLetters('orders', [['errors.tolerance', 'none']]), [
      ['errors.tolerance', 'all'],
      ['errors.deadletterqueue.topic.name', 'orders-dead'],
      ['errors.deadletterqueue.context.headers.enable', 'true'],
    ]);
    const named = withDeadLetters('orders', [['errors.deadletterqueue.topic.name', 'mine']]);
    assert.deepEqual(named[0], ['errors.deadletterqueue.topic.name', 'mine']);
  });
});
