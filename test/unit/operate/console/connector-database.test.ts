import assert from 'node:assert/strict';
import { connectorDatabase } from '../../../../src/operate/console/connector-database.ts';

describe('the database of a connector, for the console', () => {
  const place = { server: 'a:5432', database: 'plant' };

  it('is open to the SQL page only on the same server, where its name is given', () => {
    const shown = { ...place, schema: null };
    assert.deepEqual(connectorDatabase(place, { server: 'a:5432', database: 'other' }), {
      place: shown,
      isOfSql: true,
    });
    const elsewhere = { place: shown, isOfSql: false };
    assert.deepEqual(connectorDatabase(place, { server: 'b:5432', database: 'plant' }), elsewhere);
    assert.deepEqual(connectorDatabase(place, undefined), elsewhere);
    assert.deepEqual(connectorDatabase(undefined, place), { place: null, isOfSql: false });
  });

  it('has the schema that the SQL page would not search', () => {
    const schemaOf = (own: string | undefined, ofApi: string | undefined) =>
      connectorDatabase({ ...place, schema: own }, { ...place, schema: ofApi }).place?.schema;
    assert.equal(schemaOf('site', undefined), 'site');
    assert.equal(schemaOf(undefined, 'site'), 'public');
    assert.equal(schemaOf(undefined, undefined), null);
  });
});
