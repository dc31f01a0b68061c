import type { ConnectorOffsets } from '../herder/connector-offsets.ts';
import type { Herder } from '../herder/herder.ts';
import type { ChangeRecorder } from '../herder/recorded-change.ts';
import { CONNECTOR_OFFSETS, MESSAGE, OFFSETS_PREVIEW } from './answers.ts';
import type { ConnectValue } from '../data/value.ts';
import { plainJson } from '../converters/plain-json.ts';
import type { StoredOffset } from '../connect/source/offset-storage.ts';
import { coordinatesValue } from '../herder/stores/offset-store.ts';
import { RequestError } from '../errors.ts';
import type { OffsetsPreview } from '../herder/offsets-preview.ts';
import { OFFSETS_BODY, readOffsets, readTarget, TARGET_BODY } from './offsets-body.ts';
import type { RequestSenders } from './request-sender.ts';
import { answer, answerText, pathName, withinTimeLimit, type Route } from './resource.ts';

/** `/connectors/{connector}/offsets` (docs/compatibility.md#the-management-api). */
export function offsetsResource(
  herder: Herder,
  offsets: ConnectorOffsets,
  recorder: ChangeRecorder,
  senders: RequestSenders,
): readonly Route[] {
  return [
    {
      method: 'GET',
      path: '/connectors/:connector/offsets',
      summary: 'The offsets of a connector',
      tag: 'offsets',
      answers: { 200: CONNECTOR_OFFSETS },
      handle: async (context) => {
        const list = await withinTimeLimit(herder.stage, offsets.list(pathName(context, 'connector')));
        answerText(context, 200, offsetsText(list));
      },
    },
    // Not in Connect: a preview of a change of offsets.
    {
      method: 'POST',
      path: '/connectors/:connector/offsets/preview',
      summary: 'How many records other offsets would deliver again or skip; nothing is written',
      tag: 'offsets',
      body: TARGET_BODY,
      answers: { 200: OFFSETS_PREVIEW },
      handle: async (context) => {
        const name = pathName(context, 'connector');
        const target = await readTarget(context.req);
        const preview = await herder.stage.during(`previewing offsets of connector ${name}`, () =>
          withinTimeLimit(herder.stage, offsets.preview(name, target)),
        );
        answerText(context, 200, previewText(preview));
      },
    },
    {
      method: 'PATCH',
      path: '/connectors/:connector/offsets',
      summary: 'Alter offsets of a stopped connector',
      tag: 'offsets',
      body: OFFSETS_BODY,
      answers: { 200: MESSAGE },
      handle: async (context) => {
        const name = pathName(context, 'connector');
        const changes = await readOffsets(context.req);
        if (changes.length === 0) {
          throw new RequestError(400, 'Partitions / offsets need to be provided for an alter offsets request');
        }
        await withinTimeLimit(herder.stage, herder.requests.mustLead());
        const by = await senders.of(context);
        const change = () => offsets.alter(name, changes);
        const recorded = () => recorder.recorded({ connector: name, by }, change, () => 'offsetsChanged');
        const message = await herder.stage.during(`altering offsets for connector ${name}`, () =>
          withinTimeLimit(herder.stage, recorded()),
        );
        answer(context, 200, { message });
      },
    },
    {
      method: 'DELETE',
      path: '/connectors/:connector/offsets',
      summary: 'Reset the offsets of a stopped connector',
      tag: 'offsets',
      answers: { 200: MESSAGE },
      handle: async (context) => {
        const name = pathName(context, 'connector');
        await withinTimeLimit(herder.stage, herder.requests.mustLead());
        const by = await senders.of(context);
        const change = () => offsets.reset(name);
        const recorded = () => recorder.recorded({ connector: name, by }, change, () => 'offsetsChanged');
        const message = await herder.stage.during(`resetting offsets for connector ${name}`, () =>
          withinTimeLimit(herder.stage, recorded()),
        );
        answer(context, 200, { message });
      },
    },
  ];
}

/**
 * The JSON text of offsets. Sluice's own writer is used, because it keeps offsets beyond the range of JavaScript's
 * numbers.
 */
function offsetsText(list: readonly StoredOffset[]): string {
  const entries = list.map(({ partition, offset }) => new Map(entryOf({ partition, offset })));
  return Buffer.from(plainJson(null, new Map([['offsets', entries]])) ?? []).toString();
}

/** `offsets` has the form of the body of `PATCH`. */
function previewText({ partitions, again, skipped, note }: OffsetsPreview): string {
  const counted = partitions.map(
    ({ partition, current, offset, ...counts }) =>
      new Map<string, ConnectValue>([
        ['partition', coordinatesValue(partition)],
        ['current', current === null ? null : coordinatesValue(current)],
        ['offset', offset === null ? null : coordinatesValue(offset)],
        ['again', counts.again],
        ['skipped', counts.skipped],
      ]),
  );
  const body = new Map<string, ConnectValue>([
    ['again', again],
    ['skipped', skipped],
    ['note', note],
    ['partitions', counted],
    ['offsets', partitions.map((each) => new Map(entryOf(each)))],
  ]);
  return Buffer.from(plainJson(null, body) ?? []).toString();
}

function entryOf({ partition, offset }: StoredOffset): [string, ConnectValue][] {
  return [
    ['partition', coordinatesValue(partition)],
    ['offset', offset === null ? null : coordinatesValue(offset)],
  ];
}
