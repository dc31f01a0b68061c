import { plainJson } from '../converters/plain-json.ts';
import type { StoredOffset } from '../connect/source/offset-storage.ts';
import { coordinatesValue } from '../herder/stores/offset-store.ts';
import { RequestError } from '../errors.ts';
import { readOffsets } from './offsets-body.ts';
import { answer, answerText, pathName, withinTimeLimit, type Resource } from './resource.ts';

/** `/connectors/{connector}/offsets` (docs/compatibility.md#the-management-api). */
export const offsetsResource: Resource = (router, { herder, offsets }) => {
  router.get('/connectors/:connector/offsets', async (context) => {
    const list = await withinTimeLimit(herder.stage, offsets.list(pathName(context, 'connector')));
    answerText(context, 200, offsetsText(list));
  });

  router.patch('/connectors/:connector/offsets', async (context) => {
    const name = pathName(context, 'connector');
    const changes = await readOffsets(context.req);
    if (changes.length === 0) {
      throw new RequestError(400, 'Partitions / offsets need to be provided for an alter offsets request');
    }
    await withinTimeLimit(herder.stage, herder.requests.mustLead());
    const message = await herder.stage.during(`altering offsets for connector ${name}`, () =>
      withinTimeLimit(herder.stage, offsets.alter(name, changes)),
    );
    answer(context, 200, { message });
  });

  router.delete('/connectors/:connector/offsets', async (context) => {
    const name = pathName(context, 'connector');
    await withinTimeLimit(herder.stage, herder.requests.mustLead());
    const message = await herder.stage.during(`resetting offsets for connector ${name}`, () =>
      withinTimeLimit(herder.stage, offsets.reset(name)),
    );
    answer(context, 200, { message });
  });
};

/** Through our own writer: offsets may be beyond what a number holds. */
function offsetsText(list: readonly StoredOffset[]): string {
  const entries = list.map(
    ({ partition, offset }) =>
      new Map([
        ['partition', coordinatesValue(partition)],
        ['offset', offset === null ? null : coordinatesValue(offset)],
      ]),
  );
  return Buffer.from(plainJson(null, new Map([['offsets', entries]])) ?? []).toString();
}
