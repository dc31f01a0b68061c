import assert from 'node:assert/strict';
import { readOnlyRoutes } from '../../../../src/operate/console/read-only-console.ts';
import type { Context, OwnRoute } from '../../../../src/rest/resource.ts';

const WRITES = [
  ['POST', '/ui/connectors'],
  ['PUT', '/ui/connectors/:connector/config'],
  ['POST', '/ui/connectors/:connector/changes/:n/restore'],
  ['PUT', '/ui/connectors/:connector/log-level'],
  ['POST', '/ui/connector-plugins/:plugin/preview'],
  ['POST', '/ui/connectors/:connector/messages/preview'],
  ['DELETE', '/ui/what-comes-later'],
] as const;
const READS = [
  ['GET', '/ui/connectors/:connector/config'],
  ['PUT', '/ui/connector-plugins/:plugin/validate'],
  ['POST', '/ui/connectors/:connector/messages'],
  ['POST', '/ui/sql/login'],
  ['POST', '/ui/sql/logout'],
  ['POST', '/ui/sql/run'],
] as const;

const answered = ([method, path]: readonly [OwnRoute['method'], string]): unknown => {
  const routes = readOnlyRoutes([{ method, path, handle: () => 'answered' }]);
  return routes[0]?.handle({} as Context, () => Promise.resolve());
};

describe('a console that is read only', () => {
  it('S2: refuses whatever may write below /ui, previews, and what is not known yet', () => {
    for (const each of WRITES) assert.throws(() => answered(each), { status: 403 }, String(each));
  });

  it('lets everything through that only reads', () => {
    for (const each of READS) assert.equal(answered(each), 'answered', String(each));
  });
});
