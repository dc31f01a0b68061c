import assert from 'node:assert/strict';
import { dialectOf } from '../../../src/sql/dialects/dialect.ts';

describe('the dialect', () => {
  it('is told by the version text and the extensions', () => {
    const postgresql = 'PostgreSQL 18.4 on x86_64-pc-linux-gnu';
    assert.equal(dialectOf(postgresql, ['plpgsql']).name, 'postgresql');
    assert.equal(dialectOf(postgresql, ['plpgsql', 'timescaledb']).hypertables, true);
    assert.equal(dialectOf('CockroachDB CCL v25.4.0 (x86_64-pc-linux-gnu)', []).advisoryLocks, false);
    assert.equal(dialectOf('something older', []).onConflict, false);
  });
});
