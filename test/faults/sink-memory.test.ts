import assert from 'node:assert/strict';
import { MAX_GROWTH_MB, silentDatabase } from '../soak/silent-database.ts';

describe('the memory of a sink', () => {
  it('does not grow while the database does not respond, and no row is lost', async function () {
    const { flowingMb, silentMb, stored, produced } = await silentDatabase(4, 150_000);
    console.log(`      at most ${String(flowingMb)} MB while rows flowed, ${String(silentMb)} MB in the silence`);
    assert.equal(stored, produced);
    assert.ok(silentMb - flowingMb <= MAX_GROWTH_MB, `${String(flowingMb)} MB grew to ${String(silentMb)} MB`);
  });
});
