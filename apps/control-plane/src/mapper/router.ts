import { mutation, plainQuery, query, router } from "../trpc/procedure";
import { activateMapper, MapperIdInput, MapperStateOutput } from "./activate";
import { DeleteFileOutput, deleteMapperFile } from "./delete-file";
import { ImportMapperInput, ImportMapperOutput, importMapper } from "./import/import-mapper";
import { ListMappersInput, ListMappersOutput, listMappers } from "./list";
import { retireMapper } from "./retire";
import { MapperStorageOut, readMapperStorage } from "./storage";

export const mapperRouter = router({
  list: query.input(ListMappersInput).output(ListMappersOutput).query(listMappers),
  storage: plainQuery.output(MapperStorageOut).query(({ ctx }) => readMapperStorage(ctx)),
  import: mutation.input(ImportMapperInput).output(ImportMapperOutput).mutation(importMapper),
  deleteFile: mutation.input(MapperIdInput).output(DeleteFileOutput).mutation(deleteMapperFile),
  activate: mutation.input(MapperIdInput).output(MapperStateOutput).mutation(activateMapper),
  retire: mutation.input(MapperIdInput).output(MapperStateOutput).mutation(retireMapper),
});
