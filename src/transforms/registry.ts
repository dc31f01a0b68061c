import type { TransformationPlugin } from '../connect/api.ts';
import { cast } from './cast.ts';
import { dropHeaders } from './drop-headers.ts';
import { extractField } from './extract-field.ts';
import { filter } from './filter.ts';
import { flatten } from './flatten.ts';
import { headerFrom } from './header-from.ts';
import { hoistField } from './hoist-field.ts';
import { insertField } from './insert-field.ts';
import { insertHeader } from './insert-header.ts';
import { maskField } from './mask-field.ts';
import { regexRouter } from './regex-router.ts';
import { replaceField } from './replace-field.ts';
import { setSchemaMetadata } from './set-schema-metadata.ts';
import { timestampConverter } from './timestamp-converter.ts';
import { timestampRouter } from './timestamp-router.ts';
import { valueToKey } from './value-to-key.ts';

/**
 * The transformations of Apache Kafka 4.3.
 * @internal
 */
export const transformationPlugins: readonly TransformationPlugin[] = [
  ...cast,
  ...dropHeaders,
  ...extractField,
  ...filter,
  ...flatten,
  ...headerFrom,
  ...hoistField,
  ...insertField,
  ...insertHeader,
  ...maskField,
  ...regexRouter,
  ...replaceField,
  ...setSchemaMetadata,
  ...timestampConverter,
  ...timestampRouter,
  ...valueToKey,
];
