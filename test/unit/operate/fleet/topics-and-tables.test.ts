import assert from 'node:assert/strict';
import { topicsAndTables } from '../../../../src/operate/fleet/topics-and-tables.ts';

const struct = { 'protocol.type': 'struct', topics: 'orders' };
/** The table that is shown for a sink with this configuration. */
const tableOf = (config: Readonly<Record<string, string>>): string => topicsAndTables('sink', config, []).tables;

describe('topics and tables of a connector in lists', () => {
  it('name the table of a sink if its configuration determines it', () => {
    assert.equal(tableOf({ ...struct, 'table.name.format': 'public.sales' }), 'public.sales');
    assert.equal(tableOf({ ...struct, 'table.name.format': 'raw_${topic}' }), 'raw_orders');
    assert.equal(tableOf(struct), 'orders', 'the default is ${topic}');
    assert.equal(tableOf({ ...struct, topics: 'a,b', 'table.name.format': 'all_events' }), 'all_events');
  });

  it('name no table if records determine it', () => {
    assert.equal(tableOf({ ...struct, 'table.name.format': '${source.table}' }), '');
    assert.equal(tableOf({ ...struct, topics: 'a,b' }), '', 'several topics');
    assert.equal(tableOf({ 'protocol.type': 'struct', 'topics.regex': 'shop.*' }), '', 'any topics');
    assert.equal(tableOf({ ...struct, transforms: 'route' }), '', 'a transform may change the topic');
    assert.equal(tableOf({ topics: 'orders', 'protocol.type': 'json_db', 'table.name.format': 't' }), '');
    assert.equal(tableOf({ topics: 'orders', file: '/tmp/x' }), '', 'a sink of another class');
  });

  it('have the topics of a sink’s configuration, and those that a source has written', () => {
    assert.equal(topicsAndTables('sink', { topics: 'a,b' }, ['a']).topics, 'a,b');
    assert.equal(topicsAndTables('sink', { 'topics.regex': 'shop.*' }, []).topics, 'shop.*');
    const source = topicsAndTables('source', { 'table.include': 'meters,plant' }, ['kw-plant', 'kw-meters']);
    assert.deepEqual(source, { topics: 'kw-meters, kw-plant', tables: 'meters,plant' });
    assert.equal(topicsAndTables('source', { query: 'select 1', 'query.name': 'daily' }, []).tables, 'daily');
    assert.equal(topicsAndTables('source', { 'table.include.list': 'public.orders' }, []).tables, 'public.orders');
    assert.deepEqual(topicsAndTables('source', {}, []), { topics: '', tables: '' });
  });

  it('are at most 200 characters long', () => {
    assert.equal(topicsAndTables('sink', { topics: 'x'.repeat(500) }, []).topics.length, 200);
  });
});
