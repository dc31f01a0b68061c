import assert from 'node:assert/strict';
import { messageWithCause } from '../../../../src/errors.ts';
import type { ConsumedRecord } from '../../../../src/kafka/api.ts';
import { parseDeadLetter } from '../../../../src/operate/dead-letters/dead-letter-record.ts';
import {
  deadLetterGroupId,
  deadLetterGroupKey,
  messagePattern,
} from '../../../../src/operate/dead-letters/dead-letter-group.ts';
import { SelectionMatcher } from '../../../../src/operate/dead-letters/selection-matcher.ts';

function record(headers: Record<string, string>, offset = 5): ConsumedRecord {
  return {
    topic: 'dead',
    partition: 1,
    offset,
    timestamp: 1000,
    timestampType: 'CreateTime',
    key: null,
    value: Buffer.from('x'),
    headers: Object.entries(headers).map(([key, value]) => ({ key, value: Buffer.from(value) })),
  };
}

const CONTEXT = {
  own: 'kept',
  '__connect.errors.topic': 'orders',
  '__connect.errors.partition': '0',
  '__connect.errors.offset': '17',
  '__connect.errors.connector.name': 'sink',
  '__connect.errors.task.id': '3',
  '__connect.errors.stage': 'TASK_PUT',
  '__connect.errors.exception.class.name': 'java.sql.SQLException',
  '__connect.errors.exception.message': 'value too long',
  'sluice.sqlstate': '22001',
  'sluice.table': 'orders',
  'sluice.replay.attempt': '2',
};

describe('dead letters', () => {
  it('say what their headers say, and keep the headers of the record', () => {
    const letter = parseDeadLetter(record(CONTEXT));
    assert.deepEqual(letter.origin, { topic: 'orders', partition: 0, offset: 17 });
    assert.deepEqual(
      [letter.connector, letter.task, letter.stage, letter.sqlstate, letter.table, letter.column, letter.attempt],
      ['sink', 3, 'TASK_PUT', '22001', 'orders', undefined, 2],
    );
    assert.deepEqual(
      letter.headers.map(({ key }) => key),
      ['own'],
    );
  });

  it('N3: have the cause where the message ends before it', () => {
    const message = 'Converting byte[] to Kafka Connect data failed due to serialization error: ';
    const trace = `DataException: ${message}\n\tat a\nCaused by: b.First: one\n\tat b\nCaused by: c.Last: no value\n\tat c\n`;
    const context = { ...CONTEXT, '__connect.errors.exception.stacktrace': trace };
    const letter = parseDeadLetter(record({ ...context, '__connect.errors.exception.message': message }));
    assert.deepEqual([letter.message, letter.cause], [message, 'c.Last: no value']);
    assert.equal(parseDeadLetter(record(context)).cause, undefined, 'the message says what is wrong');
    const error = new Error(message, { cause: new Error('no value') });
    assert.equal(messageWithCause(error), `${message}no value`);
  });

  it('without context headers are of an unknown stage', () => {
    const letter = parseDeadLetter(record({}));
    assert.equal(deadLetterGroupKey(letter).stage, 'UNKNOWN');
    assert.equal(letter.origin, undefined);
    assert.equal(letter.attempt, 0);
  });

  it('with the same fault and other values are one group; another column or SQLSTATE is another group', () => {
    const of = (more: Record<string, string>) =>
      deadLetterGroupId(deadLetterGroupKey(parseDeadLetter(record({ ...CONTEXT, ...more }))));
    assert.equal(of({ '__connect.errors.exception.message': 'value 17 too long' }), of({}));
    assert.notEqual(of({ 'sluice.column': 'name' }), of({}));
    assert.notEqual(of({ 'sluice.sqlstate': '23514' }), of({}));
  });

  it('without an SQLSTATE are grouped by the message without its values', () => {
    assert.equal(
      messagePattern('Could not read "a b" at line 17, topic t-9: {x=1} and \'y\''),
      messagePattern('Could not read "c" at line 8, topic t-11: {y=2} and \'z\''),
    );
    assert.equal(messagePattern(`"`.repeat(100_000)).length <= 200, true);
  });

  it('are selected by group, offsets, time and filter', () => {
    const letter = parseDeadLetter(record(CONTEXT));
    assert.equal(new SelectionMatcher('sink', {}).has(letter), true);
    assert.equal(
      new SelectionMatcher('sink', { group: deadLetterGroupId(deadLetterGroupKey(letter)) }).has(letter),
      true,
    );
    assert.equal(new SelectionMatcher('sink', { group: 'another' }).has(letter), false);
    assert.equal(new SelectionMatcher('sink', { offsets: [{ partition: 1, from: 5, to: 5 }] }).has(letter), true);
    assert.equal(new SelectionMatcher('sink', { offsets: [{ partition: 0 }] }).has(letter), false);
    assert.equal(new SelectionMatcher('sink', { time: { from: 1000, to: 1001 } }).has(letter), true);
    assert.equal(new SelectionMatcher('sink', { time: { to: 1000 } }).has(letter), false);
    assert.equal(
      new SelectionMatcher('sink', { filter: { sqlstate: '22001', message: 'too long' } }).has(letter),
      true,
    );
    assert.equal(new SelectionMatcher('sink', { filter: { table: 'others' } }).has(letter), false);
  });
});
