import assert from 'node:assert/strict';
import { parseConnectionUrl } from '../../../../../plugins/database/executor/connection-url.ts';
import { withSessionName } from '../../../../../plugins/database/executor/session-name.ts';

describe('the name of database sessions (U18)', () => {
  const nameOf = (connector: string, task?: number, parameters = ''): string =>
    withSessionName(parseConnectionUrl(`jdbc:db://h/d?user=u${parameters}`), connector, task).applicationName;

  it('has connector and task', () => {
    assert.equal(nameOf('orders-sink', 0), 'sluice:orders-sink-0');
    assert.equal(nameOf('orders-source'), 'sluice:orders-source');
  });

  it('keeps the number of the task in 63 bytes, also of a connector with a long or foreign name', () => {
    assert.equal(nameOf('x'.repeat(100), 12), `sluice:${'x'.repeat(53)}-12`);
    assert.equal(nameOf('größe 👍', 1), 'sluice:gr??e ?-1');
    assert.equal(Buffer.byteLength(nameOf('ö'.repeat(100), 1)), 63);
  });

  it('is taken from the connection URL if it has one', () => {
    assert.equal(nameOf('orders-sink', 0, '&ApplicationName=mine'), 'mine');
  });
});
