import assert from 'node:assert/strict';
import { logSettings } from '../../../../plugins/log-source/settings.ts';
import { unsupportedProblems } from '../../../../plugins/log-source/unsupported-options.ts';

describe('the settings of the log source', () => {
  it('need a server, a user, a database and a prefix only', () => {
    const settings = logSettings({
      name: 'orders',
      'connector.class': 'io.debezium.connector.postgresql.PostgresConnector',
      'topic.prefix': 'shop',
      'database.hostname': 'localhost',
      'database.user': 'sluice',
      'database.password': 'secret',
      'database.dbname': 'shop',
    });
    assert.equal(settings.slot.name, 'debezium');
    assert.equal(settings.publication.name, 'dbz_publication');
    assert.equal(settings.snapshot.mode, 'initial');
  });

  it('refuse each option of incremental snapshots, post processors and signal channels that has no effect, by name', () => {
    const refused = {
      'post.processors': 'reselector',
      'incremental.snapshot.watermarking.strategy': 'INSERT_DELETE',
      'incremental.snapshot.allow.schema.changes': 'true',
      'read.only': 'true',
      'signal.enabled.channels': 'source,kafka',
      'xmin.fetch.interval.ms': '1000',
    };
    assert.deepEqual(
      unsupportedProblems(refused).map(({ name, errors }) => [name, errors]),
      Object.keys(refused).map((name) => [
        name,
        [`The '${name}' value is invalid: this option of Debezium is not supported`],
      ]),
    );
    // Defaults, and the size of chunks, which matters only when a snapshot is requested.
    const accepted = {
      'incremental.snapshot.chunk.size': '2',
      'incremental.snapshot.watermarking.strategy': 'INSERT_INSERT',
      'signal.enabled.channels': 'source',
      'post.processors': '',
    };
    assert.deepEqual(unsupportedProblems(accepted), []);
  });
});
