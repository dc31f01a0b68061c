import assert from 'node:assert/strict';
import { connectorPath, request } from '../../src/common/api.ts';

describe('paths of the console', () => {
  it('encode any name as one part, including lone surrogates', () => {
    assert.equal(connectorPath('../a/b?#%2F'), '/connectors/..%2Fa%2Fb%3F%23%252F');
    assert.equal(connectorPath('half \ud83d'), '/connectors/half%20%EF%BF%BD');
  });

  it('are refused for names of dots, which would lead to another resource', async () => {
    for (const name of ['.', '..']) {
      for (const end of ['', '/config', '/restart?includeTasks=true'])
        await assert.rejects(request('DELETE', connectorPath(name) + end), { name: 'ApiError', status: 0 });
    }
  });
});
