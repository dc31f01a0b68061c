import assert from 'node:assert/strict';
import { databaseHttp } from '../../../../../plugins/database-http/plugin.ts';
import { databasePlace } from '../../../../../plugins/database/executor/database-place.ts';
import { dbSink } from '../../../../../plugins/db-sink/plugin.ts';
import { dbSource } from '../../../../../plugins/db-source/plugin.ts';
import { postgresLogSource } from '../../../../../plugins/log-source/plugin.ts';

describe('the database that a configuration names', () => {
  it('is the server, the database and the schema of its URL, without its user and password', () => {
    assert.deepEqual(databasePlace('jdbc:db://ada:secret@DB.example:26257/plant?currentSchema=Site'), {
      ...{ server: 'db.example:26257', database: 'plant', schema: 'site' },
    });
    assert.deepEqual(databasePlace('postgresql://db.example/plant', 'other'), {
      ...{ server: 'db.example:5432', database: 'other' },
    });
  });

  it('has one name for the own machine, and for servers in any order of which the primary one is used', () => {
    const servers = ['localhost', '127.0.0.1', '[::1]'].map((host) => databasePlace(`jdbc:db://${host}/d`)?.server);
    assert.deepEqual(servers, ['localhost:5432', 'localhost:5432', 'localhost:5432']);
    const one = databasePlace('jdbc:db://b:2,a:1/d?targetServerType=primary');
    assert.deepEqual(one, { server: 'a:1,b:2', database: 'd' });
  });

  it('is unknown if the configuration leaves it open', () => {
    for (const url of [
      '',
      'jdbc:db://',
      'jdbc:db://a',
      'jdbc:db://a,b/d',
      'jdbc:db://a/d?currentSchema=one,two',
      'jdbc:db://${env:HOST}/d',
      'jdbc:db://a/${env:DATABASE}',
      '${file:/secrets:url}',
    ])
      assert.equal(databasePlace(url), undefined, url);
    assert.equal(databasePlace('jdbc:db://a/d', '${env:DATABASE}'), undefined);
  });

  it('is known for the sink, both sources and the HTTP API', () => {
    const config = { 'connection.url': 'jdbc:db://h:1/d', 'connection.password': '${file:/secrets:password}' };
    const place = { server: 'h:1', database: 'd' };
    assert.deepEqual(dbSink.databasePlace?.(config), place);
    assert.deepEqual(dbSource.databasePlace?.({ ...config, 'connection.database': 'e' }), { ...place, database: 'e' });
    const ofLog = { 'database.hostname': 'h', 'database.port': '1', 'database.dbname': 'd' };
    assert.deepEqual(postgresLogSource.databasePlace?.(ofLog), place);
    const ofApi = { 'connection.url': 'jdbc:db://h:1/ignored', 'default.database': 'd' };
    assert.deepEqual(databaseHttp.databasePlace?.(ofApi), place);
    assert.equal(postgresLogSource.databasePlace?.({ ...ofLog, 'database.hostname': '${env:HOST}' }), undefined);
  });
});
