import assert from 'node:assert/strict';
import { dbLogSettings, logProblems } from '../../../plugins/db-source/log-settings.ts';

const CONFIG = {
  name: 'Plant-Log',
  'connector.class': 'DbSource',
  'read.method': 'log',
  'out.format': 'json_db',
  'topic.prefix': 'kw',
  'connection.url': 'jdbc:db://localhost:5432/plant',
  'connection.user': 'sluice',
};

describe('the settings of DbSource with read.method=log', () => {
  it('have a slot and a publication with the name of the connector, and no limit for the log that is kept', () => {
    const { slot, publication, guard, names } = dbLogSettings(CONFIG);
    assert.equal(slot.name, 'sluice_plant_log');
    assert.equal(publication.name, 'sluice_plant_log');
    assert.deepEqual(guard, { maxBytes: 0, action: 'warn' });
    assert.equal(names.snapshotMode, 'log.snapshot.mode');
  });

  it('have the limit that the options give', () => {
    const limit = { 'log.max.lag.bytes': '50000000000', 'log.max.lag.action': 'drop-slot' };
    assert.deepEqual(dbLogSettings({ ...CONFIG, ...limit }).guard, { maxBytes: 50_000_000_000, action: 'drop-slot' });
  });

  it('refuse options of the log without read.method=log, each by name', () => {
    const queried = { ...CONFIG, 'read.method': 'query', 'log.max.lag.bytes': '1', 'log.max.lag.action': 'fail' };
    assert.deepEqual(
      logProblems(queried).map(({ option }) => option),
      ['log.max.lag.bytes', 'log.max.lag.action'],
    );
  });
});
