// grpc_probe SOCKET: asks a gRPC server for its health and for the names of its services, by the
// standard calls (grpc.health.v1.Health/Check, grpc.reflection.v1alpha.ServerReflection), as any
// gRPC tool would. Prints "serving" and one line for each service.
//
// Neither message has a type here: the few bytes of each are written by hand.
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdio>
#include <string>

namespace {

constexpr std::chrono::seconds kPatience{10};

grpc::ByteBuffer buffer_of(const std::string& bytes) {
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}

std::string bytes_of(const grpc::ByteBuffer& buffer) {
  grpc::Slice slice;
  if (!buffer.DumpToSingleSlice(&slice).ok()) return {};
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

void wait(grpc::CompletionQueue& queue) {
  void* tag = nullptr;
  bool ok = false;
  queue.Next(&tag, &ok);
}

/// One request, one reply; empty when the call failed.
std::string call(grpc::GenericStub& stub, const std::string& method, const std::string& request) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kPatience);
  grpc::CompletionQueue queue;
  const auto stream = stub.PrepareCall(&context, method, &queue);
  stream->StartCall(nullptr);
  wait(queue);
  stream->Write(buffer_of(request), nullptr);
  wait(queue);
  stream->WritesDone(nullptr);
  wait(queue);
  grpc::ByteBuffer reply;
  stream->Read(&reply, nullptr);
  wait(queue);
  grpc::Status status;
  stream->Finish(&status, nullptr);
  wait(queue);
  if (!status.ok()) {
    std::fprintf(stderr, "%s: %s\n", method.c_str(), status.error_message().c_str());
    return {};
  }
  return bytes_of(reply);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  grpc::GenericStub stub(
      grpc::CreateChannel(std::string("unix:") + argv[1], grpc::InsecureChannelCredentials()));
  // HealthCheckResponse{status = SERVING}
  if (call(stub, "/grpc.health.v1.Health/Check", "") != "\x08\x01") return 1;
  std::puts("serving");
  // ServerReflectionRequest{list_services = "*"}
  const std::string services =
      call(stub, "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", "\x3a\x01*");
  if (services.empty()) return 1;
  // Names are length-prefixed text within the reply.
  for (const char* name : {"sockhop.v1.ContainerService", "grpc.health.v1.Health"}) {
    if (services.find(name) != std::string::npos) std::puts(name);
  }
  return 0;
}
