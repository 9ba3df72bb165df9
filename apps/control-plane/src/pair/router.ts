import { z } from "zod";
import { mutation, query, router } from "../trpc/procedure";
import { GetPairInput, getPair, listPairs, PairOut } from "./list";
import {
  PlaceInput,
  PlacementInput,
  PlacementOut,
  placePair,
  readPlacement,
  UnplaceInput,
  unplacePair,
} from "./place";
import { RegisterPairInput, RegisterPairOutput, registerPair } from "./register";
import { getRegistration, RegistrationInput, RegistrationOut } from "./registration";
import { ListRegistrationsInput, ListRegistrationsOutput, listRegistrations } from "./registrations";
import { SetPairGateInput, setPairGate } from "./set-gate";
import { readStorage, StorageOut } from "./storage";

export const pairRouter = router({
  list: query.output(z.array(PairOut)).query(({ ctx }) => listPairs(ctx)),
  get: query.input(GetPairInput).output(PairOut).query(getPair),
  register: mutation.input(RegisterPairInput).output(RegisterPairOutput).mutation(registerPair),
  placement: query.input(PlacementInput).output(PlacementOut).query(readPlacement),
  place: mutation.input(PlaceInput).output(PlacementOut).mutation(placePair),
  unplace: mutation.input(UnplaceInput).output(PlacementOut).mutation(unplacePair),
  setGate: mutation.input(SetPairGateInput).output(PairOut).mutation(setPairGate),
  registration: query.input(RegistrationInput).output(RegistrationOut).query(getRegistration),
  registrations: query.input(ListRegistrationsInput).output(ListRegistrationsOutput).query(listRegistrations),
  storage: query.output(StorageOut).query(({ ctx }) => readStorage(ctx)),
});
