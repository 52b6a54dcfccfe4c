import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

class Client {
    public static void main(String[] words) throws Exception {
        HttpClient client = HttpClient.newBuilder().proxy(ProxySelector.getDefault()).build();
        HttpRequest request = HttpRequest.newBuilder(URI.create(words[0])).build();
        HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
        System.out.println(answer.statusCode() + " " + answer.body());
        System.exit(answer.statusCode() == 200 ? 0 : 1);
    }
}
