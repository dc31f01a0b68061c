import assert from 'node:assert/strict';
import { ConfigRecords, configRecord } from '../../../src/herder/stores/config-records.ts';

const config = { 'connector.class': 'x.Y', name: 'c' };

describe('the config topic', () => {
  it('shows tasks only once they are committed, all of them', () => {
    const records = new ConfigRecords();
    records.apply('connector-c', configRecord.properties(config));
    records.apply('task-c-0', configRecord.properties({ n: '0' }));
    records.apply('task-c-1', configRecord.properties({ n: '1' }));
    assert.deepEqual(records.connector('c')?.taskConfigs, []);
    assert.deepEqual(records.apply('commit-c', configRecord.commit(2)), { kind: 'tasks', connector: 'c' });
    assert.deepEqual(records.connector('c')?.taskConfigs, [{ n: '0' }, { n: '1' }]);
    assert.equal(records.connector('c')?.inconsistent, false);
    assert.deepEqual(records.connector('c')?.appliedConfig, config);
  });

  it('keeps an unchanged task over a commit that wrote only the changed one', () => {
    const records = new ConfigRecords();
    records.apply('connector-c', configRecord.properties(config));
    for (const task of [0, 1]) records.apply(`task-c-${String(task)}`, configRecord.properties({ n: String(task) }));
    records.apply('commit-c', configRecord.commit(2));
    records.apply('task-c-1', configRecord.properties({ n: 'new' }));
    records.apply('commit-c', configRecord.commit(2));
    assert.deepEqual(records.connector('c')?.taskConfigs, [{ n: '0' }, { n: 'new' }]);
  });

  it('calls a commit without all its tasks inconsistent and runs none of them', () => {
    const records = new ConfigRecords();
    records.apply('connector-c', configRecord.properties(config));
    records.apply('task-c-1', configRecord.properties({ n: '1' }));
    records.apply('commit-c', configRecord.commit(2));
    assert.equal(records.connector('c')?.inconsistent, true);
    assert.deepEqual(records.connector('c')?.taskConfigs, []);
  });

  it('reads a task name from its last dash, so that connector names may have dashes', () => {
    const records = new ConfigRecords();
    records.apply('connector-a-1', configRecord.properties({ ...config, name: 'a-1' }));
    records.apply('task-a-1-0', configRecord.properties({ n: '0' }));
    records.apply('commit-a-1', configRecord.commit(1));
    assert.deepEqual(records.connector('a-1')?.taskConfigs, [{ n: '0' }]);
  });

  it('prefers state.v2 and understands workers that write state alone', () => {
    const records = new ConfigRecords();
    records.apply('connector-c', configRecord.properties(config));
    records.apply('target-state-c', '{"state":"PAUSED","state.v2":"STOPPED"}');
    assert.equal(records.connector('c')?.targetState, 'STOPPED');
    records.apply('target-state-c', '{"state":"PAUSED"}');
    assert.equal(records.connector('c')?.targetState, 'PAUSED');
    records.apply('target-state-c', null);
    assert.equal(records.connector('c')?.targetState, 'STARTED');
  });

  it('writes target states as Java does, with STOPPED as PAUSED for old workers', () => {
    assert.equal(configRecord.targetState('STOPPED'), '{"state":"PAUSED","state.v2":"STOPPED"}');
    assert.equal(configRecord.targetState('STARTED'), '{"state":"STARTED","state.v2":"STARTED"}');
  });

  it('forgets a connector, its tasks and its state at the tombstone', () => {
    const records = new ConfigRecords();
    records.apply('connector-c', configRecord.properties(config));
    records.apply('task-c-0', configRecord.properties({ n: '0' }));
    records.apply('commit-c', configRecord.commit(1));
    assert.deepEqual(records.apply('connector-c', null), { kind: 'removed', connector: 'c' });
    assert.equal(records.connector('c'), undefined);
    assert.deepEqual(records.names(), []);
    records.apply('connector-c', configRecord.properties(config));
    assert.deepEqual(records.connector('c')?.taskConfigs, []);
  });

  it('rejects a value that does not match its key', () => {
    const records = new ConfigRecords();
    assert.throws(() => records.apply('connector-c', '{"x":1}'), /no properties/);
    assert.throws(() => records.apply('commit-c', '{}'), /no number of tasks/);
    assert.throws(() => records.apply('target-state-c', '{"state":"ASLEEP"}'), /unknown target state ASLEEP/);
  });
});
