import assert from 'node:assert/strict';
import { messageWithCause } from '../../../../src/errors.ts';
import type { ConsumedRecord } from '../../../../src/kafka/api.ts';
import { deadLetter } from '../../../../src/operate/dead-letters/dead-letter.ts';
import { letterGroupId, letterGroupKey, messagePattern } from '../../../../src/operate/dead-letters/letter-group.ts';
import { LetterPick } from '../../../../src/operate/dead-letters/letter-pick.ts';

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
    const letter = deadLetter(record(CONTEXT));
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
    const letter = deadLetter(record({ ...context, '__connect.errors.exception.message': message }));
    assert.deepEqual([letter.message, letter.cause], [message, 'c.Last: no value']);
    assert.equal(deadLetter(record(context)).cause, undefined, 'the message says what is wrong');
    const error = new Error(message, { cause: new Error('no value') });
    assert.equal(messageWithCause(error), `${message}no value`);
  });

  it('without context headers are of an unknown stage', () => {
    const letter = deadLetter(record({}));
    assert.equal(letterGroupKey(letter).stage, 'UNKNOWN');
    assert.equal(letter.origin, undefined);
    assert.equal(letter.attempt, 0);
  });

  it('with the same fault and other values are one group; another column or SQLSTATE is another group', () => {
    const of = (more: Record<string, string>) =>
      letterGroupId(letterGroupKey(deadLetter(record({ ...CONTEXT, ...more }))));
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
    const letter = deadLetter(record(CONTEXT));
    assert.equal(new LetterPick('sink', {}).has(letter), true);
    assert.equal(new LetterPick('sink', { group: letterGroupId(letterGroupKey(letter)) }).has(letter), true);
    assert.equal(new LetterPick('sink', { group: 'another' }).has(letter), false);
    assert.equal(new LetterPick('sink', { offsets: [{ partition: 1, from: 5, to: 5 }] }).has(letter), true);
    assert.equal(new LetterPick('sink', { offsets: [{ partition: 0 }] }).has(letter), false);
    assert.equal(new LetterPick('sink', { time: { from: 1000, to: 1001 } }).has(letter), true);
    assert.equal(new LetterPick('sink', { time: { to: 1000 } }).has(letter), false);
    assert.equal(new LetterPick('sink', { filter: { sqlstate: '22001', message: 'too long' } }).has(letter), true);
    assert.equal(new LetterPick('sink', { filter: { table: 'others' } }).has(letter), false);
  });
});
