import assert from 'node:assert/strict';
import { logSettings } from '../../../../plugins/log-source/settings.ts';

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
});
